import type { ChatService } from "../../chat/service.js";
import type { App } from "../../http/app.js";
import type { KindDeps } from "../../kinds/deps.js";
import type { Served } from "../../runners/served.js";
import { chatRoute } from "./chat.js";
import { modelsRoutes } from "./models.js";
import { responsesRoute } from "./responses.js";

interface Deps {
  readonly chat: ChatService;
  readonly deps: KindDeps;
  readonly upstream: Served | null;
}

/** OpenAI's API, as far as it is about chats: completions, Responses, and the list of models. */
export const openaiRoutes = (app: App, deps: Deps): void => {
  chatRoute(app, deps);
  responsesRoute(app, deps);
  modelsRoutes(app, deps);
};
