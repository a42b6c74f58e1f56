"""Every option of haizea.conf as data: its values, its default, and the option of ours that it sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.formats.resource_names import parse_count
from lease_scheduler.simulation.formats.times import parse_duration
from lease_scheduler.simulation.probes.loader import probe_names

#: Checks the text of an option and returns it in our spelling; the second argument is the option's name, for errors.
Reader = Callable[[str, str], str]


@dataclass(frozen=True)
class HaizeaOption:
    """One option of the file.

    :ivar read: checks the text and returns it in our spelling
    :ivar sets: our option as ``group.option``, or None if we have no such option
    :ivar default: Haizea's default in our spelling, or None
    :ivar required: whether the file must have it
    """

    read: Reader
    sets: str | None = None
    default: str | None = None
    required: bool = False


def _one_of(*words: str) -> Reader:
    def read(text: str, field: str) -> str:
        if text not in words:
            raise InvalidValueError(field, f"must be one of {', '.join(words)}, not {text!r}")
        return text

    return read


def _flag(text: str, field: str) -> str:
    if text.lower() in ("true", "yes", "on", "1"):
        return "true"
    if text.lower() in ("false", "no", "off", "0"):
        return "false"
    raise InvalidValueError(field, f"must be true or false, not {text!r}")


def _number(above: float | None = None, least: float | None = None) -> Reader:
    def read(text: str, field: str) -> str:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        too_small = (above is not None and value <= above) or (least is not None and value < least)
        if not isfinite(value) or too_small:
            bound = f"above {above:g}" if above is not None else f"of at least {least:g}" if least is not None else ""
            raise InvalidValueError(field, f"must be a number {bound}".rstrip() + f", not {text!r}")
        return text

    return read


def _count(least: int = 0) -> Reader:
    return lambda text, field: str(parse_count(text, field, least))


def _count_or_minus_one(text: str, field: str) -> str:
    return text if text == "-1" else str(parse_count(text, field, least=1))


def _seconds(text: str, field: str) -> str:
    return str(parse_duration(text, field))


def _text(text: str, field: str) -> str:
    if not text:
        raise InvalidValueError(field, "is empty; give a value or leave the option out")
    return text


#: Haizea's name of a probe -> our name, where they differ.
_OTHER_NAMES = {"AR": "ar", "utilization": "cpu-utilization"}


def _probes(text: str, field: str) -> str:
    known, found = probe_names(), []
    for word in text.replace(",", " ").split():
        found.append(_OTHER_NAMES.get(word, word))
        if found[-1] not in known:
            raise InvalidValueError(field, f"knows {', '.join(known)}, not {word!r}")
    return ",".join(dict.fromkeys(found))


def _attributes(text: str, field: str) -> str:
    found = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name or any(sign in name + value for sign in ":'\""):
            raise InvalidValueError(field, f"must be name=value,name=value without colons and quotes, not {part!r}")
        if name in found:
            raise InvalidValueError(field, f"names {name!r} twice; leave one")
        found[name] = value
    return ",".join(f"{name}:{value}" for name, value in found.items())


_GENERAL = {
    "loglevel": HaizeaOption(_one_of("STATUS", "INFO", "DEBUG", "VDEBUG"), default="INFO"),
    "logfile": HaizeaOption(_text),
    "mode": HaizeaOption(_one_of("simulated", "opennebula"), required=True),
    "lease-preparation": HaizeaOption(
        _one_of("unmanaged", "imagetransfer"), "image_transfer.lease_preparation", default="unmanaged"
    ),
    "lease-failure-handling": HaizeaOption(
        _one_of("cancel", "exit", "exit-raise"), "simulation.failure_handling", default="cancel"
    ),
    "persistence-file": HaizeaOption(_text),
}

_SCHEDULING = {
    "mapper": HaizeaOption(_one_of("greedy", "deadline"), "scheduling.deadline_placement", default="greedy"),
    "policy-admission": HaizeaOption(_one_of("accept-all", "no-ARs"), "scheduling.policy_admission", "accept-all"),
    "policy-preemption": HaizeaOption(
        _one_of("no-preemption", "ar-preempts-everything", "ar-preempts-be", "deadline"),
        "scheduling.policy_preemption",
        default="no-preemption",
    ),
    "policy-host-selection": HaizeaOption(_one_of("greedy", "no-policy"), "scheduling.policy_host_selection", "greedy"),
    "policy-pricing": HaizeaOption(
        _one_of("free", "constant", "random", "maximum", "adaptive"), "scheduling.policy_pricing", default="free"
    ),
    "wakeup-interval": HaizeaOption(_seconds),
    "backfilling": HaizeaOption(
        _one_of("off", "aggressive", "intermediate", "conservative"), "scheduling.backfilling", default="off"
    ),
    "backfilling-reservations": HaizeaOption(_count(), "scheduling.backfilling_reservations"),
    "suspension": HaizeaOption(_one_of("none", "serial-only", "all"), "scheduling.suspension", required=True),
    "suspend-rate": HaizeaOption(_number(above=0), "scheduling.suspend_rate"),
    "resume-rate": HaizeaOption(_number(above=0), "scheduling.resume_rate"),
    "suspendresume-exclusion": HaizeaOption(
        _one_of("local", "global"), "scheduling.suspend_resume_exclusion", default="local"
    ),
    "scheduling-threshold-factor": HaizeaOption(_number(least=0), "scheduling.scheduling_threshold_factor", "1"),
    "force-scheduling-threshold": HaizeaOption(_seconds, "scheduling.force_scheduling_threshold"),
    "override-suspend-time": HaizeaOption(_seconds, "scheduling.override_suspend_time"),
    "override-resume-time": HaizeaOption(_seconds, "scheduling.override_resume_time"),
    "migration": HaizeaOption(_one_of("no", "yes", "yes-notransfer"), "scheduling.migration", default="no"),
    "non-schedulable-interval": HaizeaOption(_seconds),
    "shutdown-time": HaizeaOption(_seconds, "scheduling.shutdown_time", default="0"),
    "enactment-overhead": HaizeaOption(_seconds, "scheduling.enactment_overhead", default="0"),
}

_SIMULATION = {
    "clock": HaizeaOption(_one_of("simulated", "real"), default="real"),
    "starttime": HaizeaOption(_text, required=True),
    "resources": HaizeaOption(_text, required=True),
    "imagetransfer-bandwidth": HaizeaOption(_number(above=0), "scheduling.migration_bandwidth", required=True),
    "stop-when": HaizeaOption(
        _one_of("all-leases-done", "besteffort-submitted", "besteffort-done", "exact"),
        "simulation.stop_when",
        default="all-leases-done",
    ),
    "stop-when-time": HaizeaOption(_seconds, "simulation.stop_when_time"),
    "status-message-interval": HaizeaOption(_count(least=1)),
    "sanity-check": HaizeaOption(_flag, "simulation.check_invariants", default="false"),
}

_ACCOUNTING = {
    "datafile": HaizeaOption(_text),
    "probes": HaizeaOption(_probes, "accounting.probes"),
    "attributes": HaizeaOption(_attributes, "accounting.attributes"),
}

_DEPLOY_IMAGETRANSFER = {
    "transfer-mechanism": HaizeaOption(_one_of("unicast", "multicast"), "image_transfer.transfer_mechanism"),
    "avoid-redundant-transfers": HaizeaOption(_flag, "image_transfer.avoid_redundant_transfers", default="true"),
    "force-imagetransfer-time": HaizeaOption(_seconds, "image_transfer.force_imagetransfer_time"),
    "diskimage-reuse": HaizeaOption(_one_of("none", "image-caches"), "image_transfer.diskimage_reuse", default="none"),
    "diskimage-cache-size": HaizeaOption(_count_or_minus_one, "image_transfer.diskimage_cache_size"),
}

_TRACEFILE = {
    "tracefile": HaizeaOption(_text, required=True),
    "annotationfile": HaizeaOption(_text),
    "injectionfile": HaizeaOption(_text),
    "runtime-slowdown-overhead": HaizeaOption(_number(least=0), "simulation.runtime_slowdown_percent", default="0"),
    "add-overhead": HaizeaOption(_one_of("none", "besteffort", "all"), "simulation.add_overhead", default="none"),
    "bootshutdown-overhead": HaizeaOption(_seconds, "simulation.boot_shutdown_overhead", default="0"),
    "override-memory": HaizeaOption(_count_or_minus_one, "simulation.override_memory", default="-1"),
}

_OPENNEBULA = {
    "host": HaizeaOption(_text),
    "port": HaizeaOption(_count(least=1)),
    "stop-when-no-more-leases": HaizeaOption(_flag),
    "dry-run": HaizeaOption(_flag),
}

_PRICING = {
    "rate": HaizeaOption(_number(least=0), "policy.pricing_rate"),
    "seed": HaizeaOption(_count(), "policy.pricing_seed"),
    "min-rate": HaizeaOption(_number(least=0), "policy.pricing_min_rate"),
    "max-rate": HaizeaOption(_number(least=0), "policy.pricing_max_rate"),
}

#: Section -> option -> its description.
OPTIONS: dict[str, dict[str, HaizeaOption]] = {
    "general": _GENERAL,
    "scheduling": _SCHEDULING,
    "simulation": _SIMULATION,
    "accounting": _ACCOUNTING,
    "deploy-imagetransfer": _DEPLOY_IMAGETRANSFER,
    "tracefile": _TRACEFILE,
    "opennebula": _OPENNEBULA,
    "pricing": _PRICING,
}

#: Options, and below them whole sections, that a simulation checks but does not use.
LATER_OPTIONS = frozenset(
    {
        ("scheduling", "wakeup-interval"),
        ("scheduling", "non-schedulable-interval"),
    }
)
LATER_SECTIONS = frozenset({"opennebula"})
