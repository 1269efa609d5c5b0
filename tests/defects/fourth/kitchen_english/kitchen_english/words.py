"""British term, American term, other American names."""

import csv

TABLE = """\
aubergine,eggplant,egg plant,
courgette,zucchini,zucchini squash,
coriander leaf,cilantro,,
rocket,arugula,,
spring onion,scallion,green onion,
swede,rutabaga,,
mangetout,snow pea,,
broad bean,fava bean,fava,
haricot bean,navy bean,,
chickpea,garbanzo bean,garbanzo,
sultana,golden raisin,,
icing sugar,powdered sugar,confectioners' sugar,
caster sugar,superfine sugar,,
bicarbonate of soda,baking soda,,
cornflour,cornstarch,corn starch,
plain flour,all purpose flour,AP flour,
wholemeal flour,whole wheat flour,,
strong flour,bread flour,,
double cream,heavy cream,heavy whipping cream,
single cream,light cream,,
treacle,molasses,,
minced beef,ground beef,hamburger meat,
prawn,shrimp,,
crisps,potato chips,chips,
chips,french fries,fries,
candyfloss,cotton candy,,
ice lolly,popsicle,ice pop,
jelly,jello,jell o,
biscuit,cookie,,
black pudding,blood sausage,,
desiccated coconut,shredded coconut,,
stock cube,bouillon cube,,
digestive,graham cracker,,
greaseproof paper,wax paper,waxed paper,
frying pan,skillet,,
cling film,plastic wrap,saran wrap,
kitchen roll,paper towel,,
cooker,stove,range,
"""


def rows() -> list[list[str]]:
    return list(csv.reader(TABLE.splitlines()))
