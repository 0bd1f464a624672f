import type { App } from "../../http/app.js";
import type { ChatDeps } from "../answer-stream.js";
import { chatRoute } from "./chat.js";
import { type ModelsDeps, modelsRoutes } from "./models.js";
import { responsesRoute } from "./responses.js";

/** OpenAI's API, as far as it is about chats: completions, Responses, and the list of models. */
export const openaiRoutes = (app: App, deps: ChatDeps & ModelsDeps): void => {
  chatRoute(app, deps);
  responsesRoute(app, deps);
  modelsRoutes(app, deps);
};
