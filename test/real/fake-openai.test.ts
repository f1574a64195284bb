// @module-tag full
import { describe, expect, it } from 'vitest';
import { startFakeOpenAi } from '../fake/openai/fake-openai.ts';
import { shell } from '../fake/openai/scenario.ts';

const say = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const output = (text: string) => ({ type: 'function_call_output', call_id: 'call_1_0', output: text });

async function ask(url: string, input: readonly unknown[], conversation = 'one'): Promise<Response> {
  const body = JSON.stringify({ model: 'fake-model', input, prompt_cache_key: conversation, stream: true });
  return fetch(`${url}/responses`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

/** The events of an answer, each by its type. */
async function eventsOf(response: Response): Promise<Record<string, { readonly response?: unknown }[]>> {
  const blocks = (await response.text()).split('\n\n').filter((block) => block !== '');
  const events = blocks.map((block) => JSON.parse(block.replace(/^event: .*\ndata: /, '')));
  return Object.groupBy(events, ({ type }) => type) as Record<string, { readonly response?: unknown }[]>;
}

describe('the fake model', () => {
  it('derives its step from the request, so that the same request gets the same answer', async () => {
    const steps = [
      { calls: [shell('ls')] },
      { message: ({ lastOutput }: { lastOutput: string }) => `saw ${lastOutput}` },
    ];
    await using model = await startFakeOpenAi({ rules: [{ when: /^list/, steps }] });
    const added = say('<environment_context>\n  <cwd>/somewhere</cwd>\n</environment_context>');
    for (let time = 0; time < 2; time += 1) {
      const first = await eventsOf(await ask(model.url, [say('list'), added]));
      expect(first['response.completed']).toMatchObject([{ response: { output: [{ name: 'exec_command' }] } }]);
      const second = await eventsOf(await ask(model.url, [say('list'), added, output('a b'), output('c')]));
      expect(second['response.completed']).toMatchObject([
        { response: { output: [{ content: [{ text: 'saw c' }] }] } },
      ]);
    }
    const other = await eventsOf(await ask(model.url, [say('list'), output('a'), say('something else')]));
    expect(other['response.completed']).toMatchObject([{ response: { output: [{ content: [{ text: 'ok' }] }] } }]);
    expect(model.requests.map(({ conversation }) => conversation.round)).toEqual([0, 1, 0, 1, 0]);
  });

  it('fails as often as configured, counted per conversation', async () => {
    const fault = { kind: 'http', status: 503 } as const;
    await using model = await startFakeOpenAi({ otherwise: [{ message: 'done', fault, failTimes: 2 }] });
    for (const conversation of ['one', 'two']) {
      const statuses: number[] = [];
      for (let time = 0; time < 3; time += 1) {
        const response = await ask(model.url, [say('hello')], conversation);
        statuses.push(response.status);
        await response.text();
      }
      expect(statuses).toEqual([503, 503, 200]);
    }
  });

  it('cuts a stream, lets one hang, and still closes', async () => {
    const rules = [
      { when: /cut/, steps: [{ message: 'half', fault: { kind: 'cut' } as const }] },
      { when: /hang/, steps: [{ message: 'half', fault: { kind: 'hang' } as const }] },
    ];
    const model = await startFakeOpenAi({ rules });
    await expect(ask(model.url, [say('cut')]).then((response) => response.text())).rejects.toThrow();
    const hanging = ask(model.url, [say('hang')]).then((response) => response.text());
    await expect.poll(() => model.requests.length).toBe(2);
    await model[Symbol.asyncDispose]();
    await expect(hanging).rejects.toThrow();
  });

  it('answers unknown routes with an error', async () => {
    await using model = await startFakeOpenAi();
    expect((await fetch(`${model.url}/files`)).status).toBe(404);
    expect(model.requests.map(({ path }) => path)).toEqual(['/v1/files']);
  });
});
