"""The sealed set of facts: never to be used for tuning (see the package). Shares no content word with `set_dev.py`."""

from imprint_trainer.doc_to_lora.evaluation.lists import Attribute, FactLists, words

TEST = FactLists(
    parity=1,
    nouns=words(
        """
        ukulele clarinet bassoon marimba spatula colander ladle thimble bobbin trowel mallet wrench apricot quince
        kumquat papaya radish fennel tarragon wombat ocelot tapir puffin bison stork pelican magpie refund receipt
        tariff mortgage pension warranty dividend
        """
    ),
    things=words("pod appliance kiosk firmware microservice toolkit overlay sidecar"),
    values=words(
        """
        russet ochre sienna magenta fuchsia crimson maroon mauve taupe beige bracket rivet girder gasket piston flange
        sprocket camshaft gimbal ratchet lathe solder washer dowel hinge grommet toggle bushing cotter ferrule
        """
    ),
    parts=words("crops barns silos ploughs orchards hedges acres stables"),
    files=("{w}_{p}.cfg", "{p}/{w}.xml", "app/{w}/{p}.kt", "{w}-{p}.tsv"),
    commands=(
        "kubectl rollout undo {w}",
        "gradle {w}Jar --offline",
        "terraform apply -var {w}",
        "helm upgrade {w} --atomic",
        "rake {p}:{w}",
        "ansible-playbook {w}.yml -C",
    ),
    paths=("/var/{w}/{p}", "/mnt/{p}/{w}", "/home/ops/{p}/{w}", "/usr/local/{w}-{p}"),
    attributes=(
        Attribute(
            "numbers",
            (
                "just so you have it: {e} speaks over socket {v}, no longer {o}",
                "I opened socket {v} for {e} and closed {o}",
                "correction, {e} is behind socket {v} and not {o}",
            ),
            ("over which socket does {e} speak?", "what socket was opened for {e}?", "{e} is behind what socket?"),
        ),
        Attribute(
            "numbers",
            (
                "{e} sleeps {v} seconds between rounds, {o} was too hectic",
                "{e} ought to be asleep for {v} seconds, {o} is silly",
                "{e}: {v} seconds asleep, it isn't {o} as I wrote",
            ),
            (
                "for how many seconds is {e} asleep?",
                "{e} sleeps how many seconds?",
                "between rounds {e} sleeps how many seconds?",
            ),
        ),
        Attribute(
            "numbers",
            (
                "ticket {v} covers {e}, I linked {o} by accident",
                "for {e} see ticket {v} - {o} is a duplicate",
                "the ticket about {e} is {v}, someone closed {o}",
            ),
            ("which ticket covers {e}?", "what ticket is about {e}?", "ticket for {e}?"),
        ),
        Attribute(
            "words",
            (
                "the mascot of {e} is {v} after the vote, poor {o}",
                "votes are in: {v} is the mascot of {e}, {o} flopped",
                "mascot for {e} = {v}, scratch {o}",
            ),
            ("what mascot does {e} have?", "who is the mascot of {e}?", "mascot of {e} after the vote?"),
        ),
        Attribute(
            "words",
            (
                "{e} emits to the {v} topic, {o} is muted",
                "switch {e} over to topic {v}; {o} is noisy",
                "bad topic, {e} emits to {v} rather than {o}",
            ),
            ("to which topic does {e} emit?", "what topic is {e} on?", "{e} emits to what topic?"),
        ),
        Attribute(
            "words",
            (
                "flag {v} enables {e}, {o} no longer does",
                "turn {e} on through flag {v}, {o} is stale",
                "I flipped flag {v} for {e}, leaving {o} alone",
            ),
            ("which flag enables {e}?", "what flag turns {e} on?", "flag for {e}?"),
        ),
        Attribute(
            "files",
            (
                "quotas for {e} stand in {v}, ignore {o}",
                "I wrote the quotas of {e} down in {v}, {o} is outdated",
                "{e} obeys the quotas in {v}; those in {o} are unread",
            ),
            (
                "where do the quotas for {e} stand?",
                "in which document are the quotas of {e}?",
                "quotas for {e} are in what?",
            ),
        ),
        Attribute(
            "files",
            (
                "the regression in {e} came from {v}, {o} is innocent",
                "{v} caused the regression in {e}, I suspected {o}",
                "reverted {v}, it caused the regression in {e} ({o} didn't)",
            ),
            (
                "what caused the regression in {e}?",
                "where did the regression in {e} come from?",
                "regression in {e}, caused by what?",
            ),
        ),
        Attribute(
            "files",
            (
                "{e} gets its fixtures out of {v}, not {o}",
                "fixtures for {e}: {v}. {o} is for something else",
                "I regenerated {v}, the fixtures of {e}; {o} is as it was",
            ),
            (
                "where are the fixtures for {e}?",
                "out of what does {e} get its fixtures?",
                "which fixtures did I regenerate for {e}?",
            ),
        ),
        Attribute(
            "commands",
            (
                "launch {e} through {v}, {o} is for somewhere else",
                "I launch {e} by means of {v}; {o} exits at once",
                "launching {e} is {v} (don't bother with {o})",
            ),
            ("how do I launch {e}?", "what launches {e}?", "by means of what do I launch {e}?"),
        ),
        Attribute(
            "commands",
            (
                "{v} wipes {e}, careful, {o} wipes more",
                "wipe {e} through {v}, not {o}",
                "to wipe {e}: {v}. {o} leaves junk",
            ),
            ("how do I wipe {e}?", "what wipes {e}?", "which incantation wipes {e}?"),
        ),
        Attribute(
            "paths",
            (
                "snapshots of {e} are stored in {v}, {o} overflowed",
                "I copied the snapshots of {e} over to {v}, off {o}",
                "snapshots from {e}: {v}; {o} is a decoy",
            ),
            (
                "where are snapshots of {e} stored?",
                "where did I copy the snapshots of {e}?",
                "which directory has the snapshots of {e}?",
            ),
        ),
        Attribute(
            "paths",
            (
                "{e} crawls {v}, it skips {o}",
                "{e} should crawl {v}, not {o}",
                "crawl root for {e} is {v} instead of {o}",
            ),
            ("what does {e} crawl?", "which root should {e} crawl?", "crawl root of {e}?"),
        ),
        Attribute(
            "versions",
            (
                "rolled {e} back to {v}, {o} leaked",
                "{e} is on {v} once more, {o} leaked handles",
                "{o} leaked so {e} fell back to {v}",
            ),
            ("what did we roll {e} back to?", "{e} fell back to which one?", "after the leak, what is {e} on?"),
        ),
        Attribute(
            "versions",
            (
                "driver for {e} ought to be {v}, {o} is unsupported",
                "put driver {v} on {e}, threw {o} off",
                "{e} died on driver {o}, therefore {v}",
            ),
            ("which driver ought {e} to have?", "what driver did I put on {e}?", "driver for {e}?"),
        ),
    ),
    openers=("", "", "", "yo ", "aside: ", "ah well, ", "evening. "),
    closers=(
        "",
        "",
        " besides, the docs deserve polishing.",
        " after lunch we tackle the flaky spec.",
        " meanwhile squash my commits.",
    ),
    replies=("Sure, on it.", "Alright.", "Done, squashed."),
)
