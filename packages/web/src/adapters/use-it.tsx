import { Card } from "../ui/card.js";
import { Commands } from "../ui/commands.js";

/** From here to an agent that runs on it; the name may be a project's latest. */
export function UseIt({ name }: { readonly name: string }) {
  return (
    <Card title="Use it">
      <Commands
        lines={[
          `imprint launch opencode ${name}`,
          `imprint chat ${name}`,
          `imprint export ${name} --format gguf --out ${name.replace("@", "-")}.gguf`,
        ]}
      />
    </Card>
  );
}
