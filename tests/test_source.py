import os
import shutil

import pytest

from envwright.environment import read_folder, snapshot
from envwright.errors import UsageError
from support import make_environment


@pytest.fixture
def root(tmp_path):
    root = make_environment(tmp_path, source="x = 1\n")
    (root / "data").mkdir()
    (root / "data" / "rows.json").write_text("[]")
    return root


@pytest.mark.parametrize(
    "name",
    [
        *(".git/HEAD", ".venv/bin/python", "venv/x", ".envwright/envwright.db", "build/x"),
        *("probe/__pycache__/x.py", "probe/stale.pyc", ".pytest_cache/x", "dist/x.whl"),
        *("outputs/run.json", "probe.egg-info/PKG-INFO", "node_modules/x.js"),
        *(".env", ".env.local", "data/.env", "data/.env.production", ".envrc", ".env.d/keys"),
    ],
)
def test_caches_keys_and_version_control_are_no_part_of_a_revision(root, tmp_path, name):
    before = read_folder(root)
    extra = root / name
    extra.parent.mkdir(parents=True, exist_ok=True)
    extra.write_text("SECRET=1")
    after = read_folder(root)
    assert after.revision == before.revision
    assert not (snapshot(after, tmp_path / "revisions").folder / name).exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "probe" / "__init__.py").write_text("x = 2\n"),
        lambda root: (root / "data" / "rows.json").write_text("[1]"),
        lambda root: (root / "data" / "rows.json").rename(root / "data" / "other.json"),
        lambda root: (root / "data" / "rows.json").chmod(0o755),
        lambda root: (root / "data" / "empty.txt").touch(),
        lambda root: (root / ".hidden").write_text("x"),
        lambda root: (root / "data" / "rows.json").unlink(),
    ],
    ids=["code", "content", "name", "exec bit", "empty file", "hidden", "less"],
)
def test_whatever_the_environment_can_see_changes_its_revision(root, change):
    before = read_folder(root).revision
    change(root)
    assert read_folder(root).revision != before


def test_a_revision_depends_on_neither_place_nor_time(root, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(root, elsewhere)
    os.utime(elsewhere / "probe" / "__init__.py", (1, 1))
    (elsewhere / "probe" / "__init__.py").chmod(0o600)
    assert read_folder(elsewhere).revision == read_folder(root).revision


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../outside.txt", "../../outside", "/nowhere"]
)
def test_a_link_that_leads_out_is_refused_by_name(root, target):
    (root.parent / "outside.txt").write_text("secret")
    (root.parent / "outside").mkdir()
    (root / "data" / "link").symlink_to(target)
    with pytest.raises(UsageError, match=r"data/link links to .* out of the environment") as raised:
        read_folder(root)
    assert raised.value.hint


def test_a_link_that_stays_inside_leads_to_the_same_in_the_snapshot(root, tmp_path):
    (root / "data" / "same.json").symlink_to("rows.json")
    (root / "data" / "absolute.json").symlink_to(root / "data" / "rows.json")
    (root / "probe" / "data").symlink_to("../data")
    (root / "loop").symlink_to("loop")
    source = read_folder(root)
    kept = snapshot(source, tmp_path / "revisions").folder
    shutil.rmtree(root)
    for name in ("data/same.json", "data/absolute.json", "probe/data/rows.json"):
        assert (kept / name).read_text() == "[]", name
    assert read_folder(kept).revision == source.revision


def test_a_link_to_a_file_with_keys_does_not_bring_it_along(root, tmp_path):
    (root / ".env").write_text("SECRET=1")
    (root / "data" / "settings.txt").symlink_to("../.env")
    kept = snapshot(read_folder(root), tmp_path / "revisions").folder
    assert not (kept / "data" / "settings.txt").exists()


def test_a_link_that_leads_elsewhere_than_before_is_another_revision(root):
    link = root / "link.json"
    (root / "data" / "copy.json").write_text("[]")
    link.symlink_to("data/rows.json")
    before = read_folder(root).revision
    link.unlink()
    link.symlink_to("data/copy.json")
    assert read_folder(root).revision != before


def test_a_snapshot_is_the_very_revision_and_stays_when_the_folder_changes(root, tmp_path):
    script = root / "data" / "run.sh"
    script.write_bytes(b"#!/bin/sh\n\x00\xff")
    script.chmod(0o755)
    source = read_folder(root)
    kept = snapshot(source, tmp_path / "revisions")
    assert kept.folder == tmp_path / "revisions" / source.revision
    assert kept.import_path == kept.folder
    assert read_folder(kept.folder).revision == source.revision
    script.write_text("changed")
    assert (kept.folder / "data" / "run.sh").read_bytes() == b"#!/bin/sh\n\x00\xff"
    assert os.access(kept.folder / "data" / "run.sh", os.X_OK)
    assert snapshot(source, tmp_path / "revisions") == kept
    assert [p.name for p in (tmp_path / "revisions").iterdir()] == [source.revision]


def test_a_folder_that_changes_while_it_is_copied_is_refused_and_leaves_nothing(root, tmp_path):
    source = read_folder(root)
    (root / "data" / "rows.json").write_text("[2]")
    with pytest.raises(UsageError, match="changed while it was read"):
        snapshot(source, tmp_path / "revisions")
    assert list((tmp_path / "revisions").iterdir()) == []


def test_a_package_is_found_beside_pyproject_under_src_or_as_one_module(root, tmp_path):
    flat = read_folder(root)
    assert (flat.module, flat.import_path) == ("probe", root)
    (root / "src").mkdir()
    (root / "probe").rename(root / "src" / "probe")
    source = read_folder(root)
    assert source.import_path == root / "src"
    assert snapshot(source, tmp_path / "revisions").import_path == (
        tmp_path / "revisions" / source.revision / "src"
    )
    (root / "src" / "probe" / "__init__.py").rename(root / "probe.py")
    shutil.rmtree(root / "src")
    assert read_folder(root).import_path == root


def test_a_projects_name_is_its_module_with_underscores(root):
    text = (root / "pyproject.toml").read_text()
    (root / "pyproject.toml").write_text(text.replace('"probe"', '"My-Probe.Env"'))
    (root / "probe").rename(root / "my_probe_env")
    assert read_folder(root).module == "my_probe_env"
