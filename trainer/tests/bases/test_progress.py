from imprint_trainer.bases.progress import Step, meter


def test_a_download_is_told_once_for_each_twentieth_and_a_large_one_for_each_50_mb() -> None:
    said: list[str | Step] = []
    tell = meter(said.append, "downloading x", 200_000_000)
    for done in range(0, 200_000_001, 1_000_000):
        tell(done)
    assert list(map(str, said[:2])) == ["downloading x: 0 of 200 MB", "downloading x: 10 of 200 MB"]
    assert said[-1] == Step("downloading x", 200_000_000, 200_000_000)
    assert len(said) == 21
    large: list[str | Step] = []
    tell = meter(large.append, "downloading y", 5_000_000_000)
    for done in range(0, 5_000_000_001, 10_000_000):
        tell(done)
    assert len(large) == 101
