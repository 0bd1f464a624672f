"""Why a hypernetwork training does not start."""


class TrainingRefused(ValueError):  # noqa: N818  named for what happened
    """A sentence that names the setting, file or line at fault and the remedy."""
