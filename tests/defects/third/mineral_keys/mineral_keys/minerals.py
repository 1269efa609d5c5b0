"""Name; Mohs hardness; colour of the streak; lustre; a further hint."""

TABLE = """
azurite;3.5;light blue;vitreous;deep blue, with malachite
barite;3;white;vitreous;remarkably heavy for a pale mineral
calcite;3;white;vitreous;fizzes in cold dilute acid
cassiterite;6.5;white to brown;adamantine;the chief ore of tin
chalcopyrite;3.5;greenish black;metallic;brassy, tarnishes in many colours
cinnabar;2;scarlet;adamantine;the chief ore of mercury
corundum;9;none;adamantine;ruby and sapphire are varieties
dolomite;3.5;white;pearly;fizzes in acid only when powdered
fluorite;4;white;vitreous;perfect octahedral cleavage
galena;2.5;lead grey;metallic;cubic cleavage, very heavy
goethite;5;yellow brown;silky;the main part of limonite
graphite;1.5;black;metallic;marks paper, feels greasy
gypsum;2;white;silky;scratched by a fingernail, roses in deserts
halite;2.5;white;vitreous;tastes salty
hematite;6;red brown;metallic;kidney ore
kyanite;5.5;white;vitreous;two very different hardnesses along and across
magnetite;6;black;metallic;attracted by a magnet
malachite;4;light green;silky;green with bands
olivine;6.5;white;vitreous;peridot is its gem
orthoclase;6;white;vitreous;pink feldspar of granite
pyrite;6;greenish black;metallic;fool's gold, striated cubes
quartz;7;white;vitreous;conchoidal fracture, six-sided prisms
rhodochrosite;4;white;vitreous;rose red carbonate
sphalerite;3.5;pale yellow;adamantine;the chief ore of zinc
stibnite;2;lead grey;metallic;long bladed crystals, ore of antimony
sulfur;2;white;resinous;yellow, burns with a blue flame
talc;1;white;pearly;the softest, soapy
topaz;8;white;vitreous;one perfect basal cleavage
tourmaline;7.5;white;vitreous;rounded three-sided prisms
wolframite;4.5;brown black;submetallic;ore of tungsten
zircon;7.5;white;adamantine;often used for dating rocks
"""

MINERALS = [tuple(line.split(";")) for line in TABLE.strip().splitlines()]
