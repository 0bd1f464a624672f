import { describe, expect, it } from "vitest";
import { figures } from "../../train/figures.mjs";

describe("figures of trainings", () => {
  const trainers = {
    imprint: { tokens: 100, losses: [2, 1.5, 1], seconds: [9, 1, 2], peak_mb: 600 },
    trl: { tokens: 100, losses: [2, 1.5, 1.25], seconds: [1, 4, 4], peak_mb: 1200 },
  };

  it("compare the steps of a round with each other, without the first", () => {
    const { imprint, trl } = figures(trainers);
    expect(trl.speedup).toEqual({ median: 3, min: 2, max: 4 });
    expect(imprint.speedup).toEqual({ median: 1, min: 1, max: 1 });
    expect(trl.tokens_per_second.median).toBe(25);
  });

  it("name the largest difference of the losses, the first step's too, and the share of the memory", () => {
    const { trl } = figures(trainers);
    expect(trl.loss_difference).toBe(0.2);
    expect(trl.peak_ratio).toBe(0.5);
    const moved = figures({ ...trainers, imprint: { ...trainers.imprint, losses: [1, 1.5, 1.25] } });
    expect(moved.trl.loss_difference).toBe(0.5);
  });
});
