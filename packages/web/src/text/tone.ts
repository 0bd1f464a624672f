export type Tone = "good" | "doubtful" | "bad";
