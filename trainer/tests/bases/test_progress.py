from imprint_trainer.bases.progress import meter


def test_a_download_is_told_once_for_each_twentieth() -> None:
    said: list[str] = []
    tell = meter(said.append, "downloading x", 200_000_000)
    for done in range(0, 200_000_001, 1_000_000):
        tell(done)
    assert said[:2] == ["downloading x: 0 of 200 MB", "downloading x: 10 of 200 MB"]
    assert said[-1] == "downloading x: 200 of 200 MB"
    assert len(said) == 21
