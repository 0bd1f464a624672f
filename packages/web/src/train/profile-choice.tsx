import type { Profile } from "@imprint/contracts";

const PROFILES: readonly (readonly [name: Profile, purpose: string, harm: string])[] = [
  [
    "remember",
    "These sessions word for word: for a model that knows this very work by heart.",
    "Makes it worse at everything else, other sessions of the same repository included.",
  ],
  [
    "learn",
    "What carries over: for the next task in the same repository or with the same agent.",
    "Does not repeat them exactly, and keeps some of their text out of the training to measure itself.",
  ],
];

interface ProfileChoiceProps {
  readonly value: string;
  /** What the service takes where nothing is chosen. */
  readonly preset: Profile;
  readonly onChange: (profile: string) => void;
}

/** What a training is for, and what that costs. */
export function ProfileChoice({ value, preset, onChange }: ProfileChoiceProps) {
  return (
    <fieldset className="choice profiles">
      <legend>Profile</legend>
      {PROFILES.map(([name, purpose, harm]) => (
        <label key={name}>
          <input type="radio" name="profile" checked={(value || preset) === name} onChange={() => onChange(name)} />
          <span>
            {name} <span className="muted">{purpose}</span> <span className="cost">{harm}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
