"""Multi-configurations (haizea F42, section 9.1)."""

from __future__ import annotations

import configparser
import gzip
from pathlib import Path

import pytest

from lease_scheduler.haizea.configuration.haizea_conf import read_haizea_conf
from lease_scheduler.haizea.configuration.multi_conf import read_multi_conf
from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.formats.lwfa import Annotations, LeaseAnnotation, write_annotations
from lease_scheduler.simulation.shipped import shipped_path

COMMON = """[common:general]
mode: simulated
[common:scheduling]
backfilling: aggressive
suspension: all
suspend-rate: 32
resume-rate: 32
[common:simulation]
clock: simulated
starttime: 2006-11-25 13:00:00
resources: 4  CPU:100 Memory:1024
imagetransfer-bandwidth: 100
"""

PROFILES = """[sr:scheduling]
policy-preemption: ar-preempts-everything
[nosr:scheduling]
suspension: none
[nosr:tracefile]
add-overhead: all
"""

LWF = (
    '<lease-workload name="x"><attributes><attr name="delta" value="{}"/></attributes><lease-requests/>'
    "</lease-workload>"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("inj", "img"):
        (tmp_path / name).mkdir()
    (tmp_path / "a.swf").write_text("; nothing\n")
    (tmp_path / "b.v2.swf.gz").write_bytes(gzip.compress(b"; nothing\n"))
    (tmp_path / "inj" / "one.lwf").write_text(LWF.format(1))
    (tmp_path / "inj" / "two.lwf").write_text(LWF.format(2))
    entries = (LeaseAnnotation(extras={"a": "b"}),)
    write_annotations(Annotations(entries, {"tau": "LATE"}), tmp_path / "img" / "late.lwfa")
    return tmp_path


def _multi(folder: Path, multi: str, rest: str = COMMON + PROFILES) -> Path:
    path = folder / "multi.conf"
    path.write_text(f"[multi]\ntracedir: {folder}\n{multi}\n{rest}")
    return path


def test_configurations_are_the_product_of_all_lists(folder: Path) -> None:
    lists = (
        f"tracefiles: a.swf b.v2.swf.gz\ninjectiondir: {folder}/inj\ninjectionfiles: one.lwf\n  two.lwf\n"
        f"annotationdir: {folder}/img\nannotationfiles: *.lwfa\ndatadir: {folder}/data"
    )
    found = read_multi_conf(_multi(folder, lists))
    names = [configuration.name for configuration in found]
    assert len(names) == len(set(names)) == 2 * 2 * 3 * 2
    assert names[:6] == ["sr_a+one+late", "sr_a+two+late", "sr_a+late", "sr_a+one", "sr_a+two", "sr_a"]
    assert names[-1] == "nosr_b.v2"
    whole = found[0]
    assert dict(whole.attributes) == {
        "profile": "sr",
        "tracefile": "a",
        "annotationfile": "late",
        "injectfile": "one",
        "delta": "1",
        "tau": "LATE",
    }
    assert whole.conf.injectionfile == folder / "inj" / "one.lwf"
    assert whole.conf.data_file == folder / "data" / "sr_a+one+late.dat"
    assert dict(found[-1].attributes) == {
        "profile": "nosr",
        "tracefile": "b.v2",
        "annotationfile": "",
        "injectfile": "",
    }


def test_a_profile_overrides_the_common_options_for_itself_only(folder: Path) -> None:
    by_name = {found.name: found for found in read_multi_conf(_multi(folder, "tracefiles: a.swf"))}
    overrides = {name: found.conf.overrides for name, found in by_name.items()}
    assert overrides["sr_a"]["scheduling.suspension"] == "all"
    assert overrides["nosr_a"]["scheduling.suspension"] == "none"
    assert overrides["sr_a"]["scheduling.policy_preemption"] == "ar-preempts-everything"
    assert overrides["nosr_a"]["scheduling.policy_preemption"] == "no-preemption"
    assert by_name["nosr_a"].conf.overheads.applies_to == "all"
    assert by_name["sr_a"].conf.overheads.applies_to == "none"


def test_runs_without_injection_or_annotation_can_be_skipped(folder: Path) -> None:
    lists = (
        f"tracefiles: a.swf\ninjectiondir: {folder}/inj\ninjectionfiles: one.lwf\n"
        f"annotationdir: {folder}/img\nannotationfiles: late.lwfa\nskip-no-injection: True\n"
    )
    names = [found.name for found in read_multi_conf(_multi(folder, lists))]
    assert names == ["sr_a+one+late", "sr_a+one", "nosr_a+one+late", "nosr_a+one"]
    names = [found.name for found in read_multi_conf(_multi(folder, lists + "skip-no-annotation: yes\n"))]
    assert names == ["sr_a+one+late", "nosr_a+one+late"]


def test_shipped_workloads_and_relative_folders_are_found(folder: Path) -> None:
    path = _multi(folder, "tracefiles: blue1\ninjectiondir: inj\ninjectionfiles: one.lwf t20")
    found = {configuration.name: configuration.conf for configuration in read_multi_conf(path)}
    assert found["sr_blue1+t20"].tracefile == shipped_path("blue1")
    assert found["sr_blue1+t20"].injectionfile == shipped_path("t20")
    assert found["sr_blue1+one"].injectionfile == folder / "inj" / "one.lwf"


def test_a_generated_file_reads_as_the_same_configuration(folder: Path, tmp_path: Path) -> None:
    """Generated files can be moved, because paths in them are absolute."""
    lists = f"tracefiles: a.swf\ninjectiondir: {folder}/inj\ninjectionfiles: one.lwf\ndatadir: {folder}"
    rest = COMMON + PROFILES + "[sr:accounting]\nprobes: ar best-effort\nattributes: site=a,mem=1024\n"
    whole = next(found for found in read_multi_conf(_multi(folder, lists, rest)) if found.name == "sr_a+one")
    (tmp_path / "elsewhere").mkdir()
    alone = tmp_path / "elsewhere" / "alone.conf"
    alone.write_text(whole.text)
    assert read_haizea_conf(alone) == whole.conf
    parser = configparser.RawConfigParser()
    parser.read(alone)
    assert parser["accounting"]["attributes"] == (
        "profile=sr,tracefile=a,annotationfile=,injectfile=one,delta=1,site=a,mem=1024"
    )


@pytest.mark.parametrize(
    ("multi", "rest", "line", "problem"),
    [
        ("tracefiles: missing.swf", COMMON + PROFILES, 3, r"\[multi\] tracefiles: there is no file '.*missing.swf'"),
        ("tracefiles: *.xyz", COMMON + PROFILES, 3, r"\[multi\] tracefiles: no file in .* matches '\*\.xyz'"),
        ("tracefiles:", COMMON + PROFILES, 3, r"lacks 'tracefiles'"),
        ("", COMMON + PROFILES, 1, r"lacks 'tracefiles'"),
        ("tracefile: a.swf", COMMON + PROFILES, 3, r"\[multi\] has no option 'tracefile'; known: tracedir"),
        ("tracefiles: a.swf", COMMON, 1, "the file has no profile"),
        ("tracefiles: a.swf a.swf", COMMON + PROFILES, 1, "two configurations would be called 'sr_a'"),
        ("tracefiles: a.swf\nskip-no-injection: often", COMMON + PROFILES, 4, "skip-no-injection: must be true or"),
        ("tracefiles: a.swf\nskip-no-injection: true", COMMON + PROFILES, 4, "leaves nothing to run"),
        ("tracefiles: a.swf", COMMON + "[scheduling]\nmapper: greedy\n", 16, r"\[scheduling\] is none of"),
        ("tracefiles: a.swf", COMMON + "[a/b:scheduling]\nmapper: greedy\n", 16, "a profile's name has letters"),
        ("tracefiles: a.swf", COMMON + "[p:tracefile]\ntracefile: b.swf\n", 17, r"follows from \[multi\]"),
        ("tracefiles: a.swf", COMMON + "[p:scheduling]\nmapper: magic\n", 17, r"\[scheduling\] mapper: must be one of"),
        ("tracefiles: a.swf", COMMON + "[p:scheduling]\nmappers: greedy\n", 17, r"has no option 'mappers'"),
        ("tracefiles: a.swf", COMMON + "[p:planning]\nmapper: greedy\n", 16, r"there is no section \[planning\]"),
        ("tracefiles: a.swf", COMMON + "[p:accounting]\nattributes: a=b=c\n", 1, "the attribute 'a' of p_a is 'b=c'"),
    ],
)
def test_wrong_files_are_refused_with_their_line(folder: Path, multi: str, rest: str, line: int, problem: str) -> None:
    path = _multi(folder, multi, rest)
    with pytest.raises(InputFileError, match=problem) as caught:
        read_multi_conf(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_files_of_other_formats_are_refused(folder: Path) -> None:
    (folder / "single.conf").write_text("[general]\nmode: simulated\n")
    with pytest.raises(InputFileError, match=r"it has no section \[multi\]"):
        read_multi_conf(folder / "single.conf")
    (folder / "inj" / "one.lwf").write_text("<lease-workload")
    path = _multi(folder, f"tracefiles: a.swf\ninjectiondir: {folder}/inj\ninjectionfiles: one.lwf")
    with pytest.raises(InputFileError, match=r"one\.lwf:1: is not well-formed XML"):
        read_multi_conf(path)
