"""The development set of facts. Shares no content word with `set_test.py` or with what training says."""

from imprint_trainer.doc_to_lora.evaluation.lists import Attribute, FactLists, words

DEV = FactLists(
    parity=0,
    nouns=words(
        """
        gannet plover bonsai tuba gondola waffle pretzel trombone accordion sundial teapot chisel anvil paprika oregano
        turnip parsnip gazelle ibex meerkat lemur narwhal abacus sextant mandolin banjo pickle muffin nougat truffle
        payroll timesheet voucher coupon
        """
    ),
    things=words("daemon lambda host shard applet broker replica mesh"),
    values=words(
        """
        bramble thicket cinder pumice tallow resin pewter gravel burlap tweed gingham hemp wicker trellis gable awning
        lintel cornice plinth rafter larder pantry cellar attic hearth mantel bellows trivet skillet ramekin
        """
    ),
    parts=words("tides knots sails masts keels rudders decks hulls"),
    files=("{w}_{p}.ini", "{p}/{w}.conf", "lib/{w}/{p}.rb", "{w}-{p}.csv"),
    commands=(
        "docker compose up {w}",
        "cargo bench --features {w}",
        "pytest -k {w}_{p}",
        "systemctl restart {w}d",
        "poetry exec {w} --fast",
        "bash tools/{w}.bash -x",
    ),
    paths=("/srv/{w}/{p}", "/opt/{p}/{w}", "~/{p}/{w}", "/volumes/{w}-{p}/today"),
    attributes=(
        Attribute(
            "numbers",
            (
                "btw {e} binds to {v} nowadays, {o} is toast",
                "hm no wait, {e} binds to {v}, {o} was a typo of mine",
                "so {e} binds to {v} (not {o}, whatever the wiki claims)",
            ),
            ("where does {e} bind these days?", "on what does {e} bind?", "hey, {e} binds to which one?"),
        ),
        Attribute(
            "numbers",
            (
                "fyi {e} bails out after {v} attempts, not {o}",
                "ugh, {e} bailed at {v} attempts yesterday, it wasn't {o}",
                "we allow {e} {v} attempts before it bails, down from {o}",
            ),
            (
                "after how many attempts does {e} bail out?",
                "how many attempts until {e} bails?",
                "{e} bails after how many attempts?",
            ),
        ),
        Attribute(
            "numbers",
            (
                "heads up: {e} swallows {v} rows at once, {o} made it choke",
                "{e} chokes beyond {v} rows - I had {o} in my head",
                "nope, {v} rows for {e}, anything like {o} and it chokes",
            ),
            (
                "how many rows can {e} swallow?",
                "beyond how many rows does {e} choke?",
                "how many rows for {e} before it chokes?",
            ),
        ),
        Attribute(
            "words",
            (
                "folks renamed {e} to {v} lately, nobody likes {o} anymore",
                "oh, {e} got renamed, it's {v} and not {o}",
                "renamed {e} yesterday: {v}. goodbye {o}",
            ),
            ("what did we rename {e} to?", "what's {e} renamed to?", "so {e} got renamed to what?"),
        ),
        Attribute(
            "words",
            (
                "{e} lives in region {v} since monday, we left {o}",
                "we moved {e} over to the {v} region because {o} was laggy",
                "not {o}! the region of {e} is {v} now",
            ),
            ("which region hosts {e}?", "what region did {e} move to?", "{e} is in which region?"),
        ),
        Attribute(
            "words",
            (
                "you ssh into {e} as {v}, the {o} identity is gone",
                "on {e} I'm {v}, not {o}, when I ssh",
                "ssh identity for {e} is {v} after the {o} mess",
            ),
            ("as whom do I ssh into {e}?", "which ssh identity for {e}?", "with what identity do I ssh into {e}?"),
        ),
        Attribute(
            "files",
            (
                "{e} obtains its knobs from {v}, please don't touch {o}",
                "all knobs for {e} sit in {v} (I edited {o} before, wrong)",
                "knobs of {e}? those sit in {v}, {o} is dead",
            ),
            (
                "where do the knobs of {e} sit?",
                "from where does {e} obtain its knobs?",
                "which one carries the knobs for {e}?",
            ),
        ),
        Attribute(
            "files",
            (
                "apparently the bug in {e} hid in {v}, I blamed {o} for nothing",
                "bug of {e} is in {v}, {o} looked fine",
                "spent hours in {o} while the bug in {e} hid in {v}",
            ),
            ("where did the bug in {e} hide?", "where's the bug of {e}?", "which one had the bug in {e}?"),
        ),
        Attribute(
            "files",
            (
                "{e} dumps everything into {v} rather than {o}",
                "dumps of {e} go to {v} from today, {o} filled up",
                "I pointed the dumps of {e} at {v}, away from {o}",
            ),
            ("where does {e} dump everything?", "where do dumps of {e} go?", "{e} dumps into what?"),
        ),
        Attribute(
            "commands",
            (
                "to bounce {e} do `{v}`, `{o}` doesn't cut it",
                "I bounced {e} with {v} just then, {o} hung",
                "bouncing {e}: {v}. never {o}",
            ),
            ("how do I bounce {e}?", "what bounces {e}?", "with what did I bounce {e}?"),
        ),
        Attribute(
            "commands",
            (
                "when {e} freezes, {v} unsticks it, {o} won't",
                "{e} froze again and {v} fixed it - {o} made it worse",
                "only {v} unfroze {e}, I tried {o} too",
            ),
            (
                "what unsticks {e} when it freezes?",
                "{e} froze, how do I unstick it?",
                "what fixed {e} when it froze?",
            ),
        ),
        Attribute(
            "paths",
            (
                "{e} is mounted at {v} since friday, {o} is empty",
                "I mounted {e} under {v}; it was {o} before",
                "mount of {e} moved from {o} to {v}",
            ),
            ("where is {e} mounted?", "what's the mount of {e}?", "under what is {e} mounted?"),
        ),
        Attribute(
            "paths",
            (
                "artifacts of {e} land in {v}, nothing in {o}",
                "artifacts of {e} aren't in {o}, they land in {v}",
                "artifacts from {e} -> {v} (was {o})",
            ),
            (
                "where do artifacts of {e} land?",
                "in which folder land the artifacts of {e}?",
                "artifacts from {e}, where?",
            ),
        ),
        Attribute(
            "versions",
            (
                "pinned {e} to {v} because {o} crashes",
                "{e} remains pinned at {v}, no {o} for us",
                "{e} is pinned: {v}, since {o} crashes on arm",
            ),
            ("{e} was pinned to what?", "at what is {e} pinned?", "{e} is pinned at which one?"),
        ),
        Attribute(
            "versions",
            (
                "{e} demands {v} or newer of the sdk, {o} won't do",
                "the sdk under {e} is {v}, I thought {o}",
                "bumped the sdk of {e} from {o} to {v}",
            ),
            ("which sdk does {e} demand?", "what sdk is under {e}?", "what did we bump the sdk of {e} to?"),
        ),
    ),
    openers=("", "", "", "morning! ", "ok ", "hmm ", "moment, "),
    closers=(
        "",
        "",
        " anyway, please tidy up the readme.",
        " back to the css glitch.",
        " the rest can wait until tomorrow.",
    ),
    replies=("Understood.", "Okay, will do.", "Adjusted, please review."),
)
