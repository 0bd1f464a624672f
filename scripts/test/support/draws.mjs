if (process.env.CI) (await import("fast-check")).configureGlobal({ seed: 1 });
