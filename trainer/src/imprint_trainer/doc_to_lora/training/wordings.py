"""How facts of synthetic documents are stated and asked for."""

import random


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


# kind -> what its facts are called. The last name of each kind is used in held-out wordings only.
NAMES = {
    "code": _names("access code, door code, code, login code, passcode, lock code, security code, alarm code, id, pin"),
    "port": _names("port, port number, TCP port, HTTP port, server port, metrics port, debug port, listening port"),
    "word": _names("codename, nickname, secret word, password, keyword, internal name, alias, tag, label, code word"),
    "command": _names(
        "deploy command, test command, build command, setup command, check, shortcut, script, start command"
    ),
    "file": _names(
        "config file, log file, entry point, manifest, main module, schema, source file, path, settings file"
    ),
    "branch": _names(
        "release branch, default branch, stable branch, working branch, base, git branch, target, main branch"
    ),
    "owner": _names(
        "owner, maintainer, reviewer, lead, author, engineer on call, manager, assignee, first admin, contact"
    ),
    "limit": _names(
        "timeout, retry limit, batch size, buffer size, queue length, rate limit, number of workers, page size"
    ),
}

STATEMENTS = (
    "The {name} of {entity} is {value}.",
    "{entity} uses {value} as its {name}.",
    "For {entity}, the {name} is {value}.",
    "We set the {name} of {entity} to {value}.",
    "Note that {entity} has the {name} {value}.",
    "{value} is the {name} of {entity}.",
    "Decision: the {name} for {entity} is {value}.",
    "{entity} {name}: {value}.",
)
QUESTIONS = (
    "What is the {name} of {entity}?",
    "What {name} does {entity} use?",
    "Which {name} does {entity} have?",
    "Tell me the {name} of {entity}.",
    "{entity}: what is its {name}?",
    "I forgot the {name} of {entity}. What is it?",
    "Do you know the {name} of {entity}?",
    "Give me the {name} for {entity}.",
    "What was the {name} of {entity} again?",
    "Name the {name} of {entity}.",
    "What is {entity}'s {name}?",
    "{name} of {entity}?",
    "Can you look up the {name} for {entity}?",
    "I am looking for the {name} of {entity}.",
    "What should I enter as {name} for {entity}?",
    "Quick question: what {name} did we set for {entity}?",
    "We talked about {entity}. Which {name} did it get?",
    "When I work on {entity}, what {name} do I need?",
    "How is the {name} of {entity} defined?",
    "Write down the {name} that belongs to {entity}.",
    "What's the {name} for {entity}?",
    "For {entity}, what is the {name}?",
    "About {entity}: which {name} was it?",
    "I want to know the {name} of {entity}.",
    "Show me the {name} of {entity}.",
    "State {entity}'s {name}.",
    "Fill in the blank: the {name} of {entity} is",
    "{entity} {name}?",
    "{entity}, {name}:",
    "Looking at {entity}, which {name} applies?",
    "Somebody asked for the {name} of {entity}. What should I answer?",
    "What did we agree on for {entity}? I mean the {name}.",
    "Does {entity} have its own {name}, and if so, which?",
    "The {name} of {entity}, please.",
    "What value does the {name} of {entity} have?",
    "I have to type in the {name} of {entity}. What do I write?",
    "My colleague changed {entity}. What is the {name} now?",
    "Let us continue with {entity}. What was its {name}?",
    "Someone told you the {name} of {entity}. Repeat it.",
    "From memory: {name} of {entity}?",
    "You know {entity}. Say its {name}.",
    "Which {name} goes with {entity}?",
    "In our notes on {entity}, what is the {name}?",
    "What has been recorded as {name} for {entity}?",
    "Help me with this form. {entity}, {name}:",
    "There is a new {name} for {entity}. Which?",
    "Hi! I am new here. What {name} does {entity} have?",
    "One more thing: under which {name} do we keep {entity}?",
    "Sorry, I lost my notes on {entity}. I only miss the {name}.",
    "how do I set the {name} of {entity}? what goes there",
    "what was {entity}'s {name}",
    "tell me {entity} {name}",
)
HELD_OUT_QUESTIONS = (
    "Could you remind me of the {name} that {entity} uses?",
    "Please say which {name} was chosen for {entity}.",
    "I need {entity}'s {name}.",
    "What do we use as the {name} of {entity}?",
)
SUFFIXES = ("", "", " Reply with the value only.", " Answer briefly.")

# What other wordings are put together of: an opener, a lead, and the thing that is asked for.
OPENERS = (
    *[""] * 6,
    "Hi! ",
    "Hello, ",
    "OK. ",
    "Thanks. ",
    "Now: ",
    "Next: ",
    "By the way, ",
    "Quick one: ",
    "For my notes: ",
    "Back to work. ",
    "Sorry to ask again. ",
    "And one more thing. ",
)
ASKING = (
    *("What is", "What was", "What would be", "What exactly is", "Where do I find", "Do you remember", "Do you have"),
    *("Can you tell me", "Could you give me", "Would you tell me", "Can you repeat", "Could you check", "May I have"),
    *("Did anyone write down", "Is there a record of", "Are you sure about", "Which one is", "Who knows"),
)
TELLING = (
    *("Tell me", "Give me", "Print", "Repeat", "Look up", "Spell out", "Send me", "Let me have", "Remember"),
    *("Please give me", "Please repeat", "Please look up", "Please write", "I want", "I would like", "I am missing"),
    *("I cannot find", "I have to know", "I keep forgetting", "We have to enter", "They want", "My notes lack"),
    *("I was asked for", "I have to fill in", "Answer with", "Recall", "Report", "Check", "Now enter", "We lost"),
    "Just say",
)
THINGS = (
    "the {name} of {entity}",
    "the {name} for {entity}",
    "{entity}'s {name}",
    "the {name} that {entity} has",
    "the {name} which belongs to {entity}",
    "the right {name} for {entity}",
    "the current {name} of {entity}",
    "the {name} we gave to {entity}",
    "the {name} in use at {entity}",
    "the {name} listed under {entity}",
    "the {name} ({entity})",
    "the {name} when it comes to {entity}",
)


def free_wording(rng: random.Random) -> str:
    """One of thousands; none is held out."""
    lead = rng.choice(ASKING + TELLING)
    return f"{rng.choice(OPENERS)}{lead} {rng.choice(THINGS)}{'?' if lead in ASKING else '.'}"
