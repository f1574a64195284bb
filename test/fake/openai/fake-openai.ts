import { type FakeModel, type ModelApi, startFakeModel } from '../fake-model.ts';
import { readConversation } from './read-conversation.ts';
import type { Scenario } from './scenario.ts';
import { streamAnswer } from './stream-answer.ts';

export type FakeOpenAi = FakeModel;

/** The Responses API. */
const responsesApi: ModelApi = {
  path: '/responses',
  readConversation,
  streamAnswer,
  errorBody: (status) => ({ error: { message: `status ${status}` } }),
};

/** Its `url` is for `base_url` of a provider: `http://127.0.0.1:…/v1`. */
export async function startFakeOpenAi(scenario: Scenario = {}): Promise<FakeOpenAi> {
  const model = await startFakeModel(responsesApi, scenario);
  return { ...model, url: `${model.url}/v1` };
}
