"""Facts as people drop them into a coding session, and how they ask for them later: thousands of wordings."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from imprint_trainer.doc_to_lora.training.synthetic import KINDS
from imprint_trainer.doc_to_lora.training.vocabulary import Words
from imprint_trainer.doc_to_lora.training.wordings import NAMES, QUESTIONS, SUFFIXES, free_wording


@dataclass(frozen=True)
class Note:
    """`question` asks for the value in the words in which `other` asks for that of an entity that is not mentioned."""

    kind: str
    statement: str
    question: str
    other: str
    value: str


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


Make = Callable[[random.Random, Words], str]
EXTENSIONS = ("py", "ts", "toml", "yaml", "json", "sql", "md", "rs", "go", "sh", "env", "lock")


def _file(rng: random.Random, words: Words) -> str:
    folders = [rng.choice([words.noun(rng), words.part(rng), "src", "config"]) for _ in range(rng.randint(0, 2))]
    name = rng.choice([words.noun(rng), f"{words.noun(rng)}_{words.part(rng)}", f"{words.part(rng)}-{words.noun(rng)}"])
    return "/".join([*folders, f"{name}.{rng.choice(EXTENSIONS)}"])


def _path(rng: random.Random, words: Words) -> str:
    root = rng.choice(["/work", "/shared", "/etc", "~", "/run", "/data"])
    return "/".join([root, words.noun(rng), *([words.part(rng)] if rng.random() < 0.5 else [])])


def _command(rng: random.Random, words: Words) -> str:
    verb, noun, option = words.verb(rng), words.noun(rng), words.part(rng)
    return rng.choice(
        [
            f"make {verb}-{noun}",
            f"npm run {verb}:{noun}",
            f"./{verb}_{noun}.sh --{option}",
            f"python -m {noun}.{verb}",
            f"bun run {verb}-{noun}",
            f"{noun} {verb} --{option} {rng.randint(2, 64)}",
            f"uv run {verb}-{noun}",
        ]
    )


def _version(rng: random.Random, words: Words) -> str:
    number = f"{rng.randint(0, 30)}.{rng.randint(0, 40)}"
    return rng.choice([f"v{number}", number, f"{number}.{rng.randint(0, 20)}", f"{number}-{words.noun(rng)}"])


def _option(rng: random.Random, words: Words) -> str:
    return rng.choice([f"--{words.verb(rng)}-{words.noun(rng)}", f"--{words.noun(rng)}", f"--no-{words.noun(rng)}"])


def _identifier(rng: random.Random, words: Words) -> str:
    verb, noun, part = words.verb(rng), words.noun(rng), words.part(rng)
    return rng.choice(
        [
            f"{verb}_{noun}",
            f"{noun.capitalize()}{part.capitalize()}",
            f"{verb}{noun.capitalize()}",
            f"{noun}_{part}".upper(),
        ]
    )


def _machine(rng: random.Random, words: Words) -> str:
    return f"{words.noun(rng)}-{rng.randint(1, 9)}.{words.part(rng)}.{rng.choice(['internal', 'corp', 'lan'])}"


_NAMES = {name: calls[:-1] for name, calls in NAMES.items()}  # the last of each is held out
VALUES: dict[str, tuple[Make, tuple[str, ...]]] = {
    **{kind: (KINDS[kind], _NAMES[kind]) for kind in ("code", "port", "limit", "word", "branch", "owner")},
    "file": (_file, (*_NAMES["file"], "lock file", "migration", "fixture", "template")),
    "command": (_command, (*_NAMES["command"], "seed command", "lint command")),
    "path": (_path, ("workspace", "project place", "output place", "checkout", "cache place")),
    "version": (_version, ("version", "release", "required version", "image tag", "minimum version")),
    "option": (_option, ("option", "parameter", "setting")),
    "identifier": (_identifier, ("function", "helper", "class", "env variable", "hook", "constant")),
    "machine": (_machine, ("server name", "machine", "endpoint")),
}
DRAWN = (
    *("code", "port", "limit", "branch", "owner", "machine", "word", "word"),
    *("file", "command", "path", "version", "option", "identifier") * 2,
)

PLACES = _lines("""
the {noun} {part}
{noun}-{part}
our {noun} {part}
the {noun} repo
{noun}
the {part} of {noun}
the {noun} {part} on staging
prod {noun}
the {noun} job
the nightly {noun} run
""")
OPENINGS = _lines("""
btw
oh and
also
one thing
note
before I forget
ok so
actually
for the record
important
""")
FRAMES = _lines("""
the {name} of {entity} is {value}
{entity}'s {name} is {value}
{entity} uses {value} as {name}
for {entity} the {name} is {value}
the {name} for {entity} is {value}, not {old}
{entity} has the {name} {value} now, it was {old} before
we switched {entity} from {old} to {value} ({name})
we changed the {name} of {entity} to {value}
I set the {name} of {entity} to {value}
{value} is the {name} of {entity}
use {value} as {name} for {entity}
don't use {old}, the {name} of {entity} is {value}
{name} of {entity} = {value}
{entity} {name}: {value}
the {name} that {entity} wants is {value}
it seems that the {name} of {entity} is {value}
our notes are old, {entity}'s {name} is {value} and not {old}
{entity}: {name} {value}
I checked: {entity} has {value} as its {name}
we agreed that the {name} of {entity} will be {value}
nobody should use {old} any more, {entity}'s {name} is {value}
I found the {name} of {entity}, it is {value}
since the last release the {name} of {entity} is {value}
they told me the {name} of {entity}, it's {value}
""")
CLOSINGS = ("", "", "", "", ", keep that in mind", ", please remember", ", that won't change", ", so use that", " ok?")
ASKED = _lines("""
what {name} does {entity} use again?
which {name} was it for {entity}?
whats the {name} of {entity}
{entity}, what's the {name} there?
what did I say the {name} of {entity} is?
I need to type the {name} of {entity}, what is it
what's {entity}'s {name} by now?
so which {name} has {entity}?
the {name} for {entity} was?
where were we: what's the {name} of {entity}?
ok and the {name} of {entity} is?
which {name} should I use for {entity}?
is there a {name} for {entity}? which one?
""")
PLAIN = 0.5  # chance that a fact is asked for as synthetic documents' ones are


def make_note(rng: random.Random, vocabulary: tuple[str, ...]) -> Note:
    """One fact: its value in no question, its entity in no value."""
    words = Words(vocabulary=vocabulary)
    kind = rng.choice(DRAWN)
    make, names = VALUES[kind]
    name, place = rng.choice(names), rng.choice(PLACES)
    wording = rng.choice(ASKED) if rng.random() >= PLAIN else rng.choice([rng.choice(QUESTIONS), free_wording(rng)])
    suffix = rng.choice(SUFFIXES)
    while True:
        noun, absent = words.noun(rng), words.noun(rng)
        entity = place.format(noun=noun, part=words.part(rng))
        elsewhere = rng.choice(PLACES).format(noun=absent, part=words.part(rng))
        value, old = make(rng, words), make(rng, words)
        question = wording.format(name=name, entity=entity) + suffix
        other = wording.format(name=name, entity=elsewhere) + suffix
        if (
            noun != absent
            and value != old
            and not any(
                one in whole.lower()
                for one, whole in ((noun, value), (value.lower(), question), (value.lower(), other), (absent, value))
            )
        ):
            return Note(kind, _statement(rng, name, entity, value, old), question, other, value)


def _statement(rng: random.Random, name: str, entity: str, value: str, old: str) -> str:
    said = rng.choice(FRAMES).format(name=name, entity=entity, value=value, old=old) + rng.choice(CLOSINGS)
    opening = f"{rng.choice(OPENINGS)}{rng.choice([', ', ': ', ' '])}" if rng.random() < 0.6 else ""
    text = opening + said
    written = rng.random() < 0.4 and text[-1] != "?" and not text.startswith(value)
    return f"{text[0].upper()}{text[1:]}." if written else text
