import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../src/agent/agent.ts';
import type { AgentQuestion } from '../../src/core/command/question.ts';
import { stageRun } from './stage-run.ts';

/** Runs shell text as the program of the run; ends when it has, or when it was stopped at its first report. */
async function runOf(program: string, stopAtReport = false) {
  let request: SessionRequest | null = null;
  const staged = stageRun(program, {
    agent: { backend: 'command', command: 'exec sh' },
    onSessionRequest: (asked) => {
      request = asked;
    },
    report: (fact) => {
      if (stopAtReport && fact.kind === 'event' && fact.event.usage !== undefined) staged.run.stop('day_limit_reached');
    },
  });
  const { end } = await staged.end();
  const usage = staged.events.flatMap((event) => event.usage ?? []);
  const malformed = staged.events.filter(({ name }) => name === 'malformed').length;
  return { end, usage, malformed, staged, request: request as SessionRequest | null };
}

const report = (text: string): string => `printf '%s\\n' '${text}' >> "$BATON_REPORT_FILE"`;

// @conforms limits.27
describe('a command that reports its usage', () => {
  it('in the file has it counted, as running totals', async () => {
    const { end, usage, malformed } = await runOf(
      [
        report('{"type":"usage","input_tokens":1200,"output_tokens":300}'),
        report(
          '{"type":"usage","input_tokens":2000,"output_tokens":500,"cached_input_tokens":100,"cost_usd":0.25,"model":"m"}',
        ),
      ].join('\n'),
    );
    expect([end, malformed]).toEqual(['succeeded', 0]);
    expect(usage).toEqual([
      { inputTokens: 1200, outputTokens: 300, totalTokens: 1500 },
      {
        inputTokens: 2000,
        cachedInputTokens: 100,
        outputTokens: 500,
        totalTokens: 2500,
        costMicroUsd: 250_000,
        model: 'm',
      },
    ]);
  });

  it('while it runs has it counted before it ends, so that a limit can stop it', async () => {
    const { end, usage } = await runOf(`${report('{"type":"usage","cost_usd":100}')}\nsleep 600`, true);
    expect(end).toBe('interrupted');
    expect(usage).toMatchObject([{ costMicroUsd: 100_000_000, totalTokens: 0 }]);
  });

  it('by a line that is no report goes on, and the line is an event', async () => {
    const lines = ['no json', '[]', '{"type":"other"}', '{"type":"usage","input_tokens":-1}', '{"type":"usage","x":1}'];
    const good = '{"type":"usage","input_tokens":1}';
    const half = `printf '{"type":"usage","input_tokens":9' >> "$BATON_REPORT_FILE"`;
    const { end, usage, malformed } = await runOf([...[...lines, good].map(report), half].join('\n'));
    expect([end, malformed]).toEqual(['succeeded', lines.length]);
    expect(usage).toMatchObject([{ inputTokens: 1 }]);
  });

  it.each([
    [
      'a link to another file',
      'echo \'{"type":"usage","input_tokens":7}\' > other; ln -s "$PWD/other" "$BATON_REPORT_FILE"',
    ],
    ['a pipe', 'mkfifo "$BATON_REPORT_FILE"'],
    ['a folder', 'mkdir "$BATON_REPORT_FILE"'],
    ['a device', 'ln -s /dev/zero "$BATON_REPORT_FILE"'],
  ])('in what is %s has nothing counted', async (_, program) => {
    expect(await runOf(program)).toMatchObject({ end: 'succeeded', usage: [], malformed: 0 });
  });

  it('after 20 MB of anything still has its last lines counted', async () => {
    const { end, usage } = await runOf(
      `head -c 20000000 /dev/zero >> "$BATON_REPORT_FILE"; echo >> "$BATON_REPORT_FILE"
${report('{"type":"usage","input_tokens":5}')}`,
    );
    expect([end, usage]).toMatchObject(['succeeded', [{ inputTokens: 5 }]]);
  });

  it('leaves nothing behind', async () => {
    const { request, staged } = await runOf('echo "$BATON_REPORT_FILE" > place; echo x > "$BATON_REPORT_FILE"');
    const place = staged.file('place')?.trim() ?? '';
    expect(path.isAbsolute(place)).toBe(true);
    expect(existsSync(path.dirname(place))).toBe(false);
    expect(request?.tools.tools.map(({ name }) => name)).toContain('report_usage');
  });
});

describe('a command that reports how it ended', () => {
  const outcome = (status: string, message?: string): string =>
    report(JSON.stringify({ type: 'outcome', status, message }));

  it.each([
    [outcome('failed', 'The tests do not pass.'), { end: 'failed', error: { code: 'agent_turn_failed' } }],
    [outcome('failed'), { end: 'failed', error: { code: 'agent_turn_failed' } }],
    [`${outcome('failed')}\n${outcome('succeeded')}`, { end: 'succeeded' }],
    // An exit code says more than a word.
    [`${outcome('succeeded')}\nexit 3`, { end: 'failed', error: { code: 'agent_exited', details: { exit_code: 3 } } }],
  ])('has its last word counted: %s', async (program, end) => {
    const { staged } = await runOf(program);
    expect(await staged.end()).toMatchObject(end);
  });

  it('has its message kept instead of its last line', async () => {
    const { staged } = await runOf(`${outcome('succeeded', 'I fixed the door.')}\necho bye`);
    expect(staged.messages).toEqual(['I fixed the door.']);
  });
});

describe('a command that fails', () => {
  it.each([
    [
      'the last line of its error output',
      'echo Hello; echo first >&2; echo "Not logged in" >&2; exit 1',
      'Not logged in',
    ],
    ['its last line, without error output', 'echo Hello; echo "No credit left"; exit 1', 'No credit left'],
  ])('has %s in the reason', async (_, program, line) => {
    const { staged } = await runOf(program);
    expect(await staged.end()).toMatchObject({
      end: 'failed',
      error: { code: 'agent_exited', message: expect.stringContaining(line) },
    });
  });
});

describe('a command that asks a person', () => {
  const ask = `if grep -q teal; then echo painted > wall; else ${report('{"type":"question","question":"Which colour?"}')}; exit 1; fi`;

  it('gets the answer with a second prompt, and its exit code does not count', async () => {
    const asked: AgentQuestion[] = [];
    const staged = stageRun('Paint the wall.', {
      agent: { backend: 'command', command: ask },
      request: {
        ask: async (question) => {
          asked.push(question);
          return { decision: 'accept', values: { answer: 'teal' } };
        },
      },
    });
    expect(await staged.end()).toMatchObject({ end: 'succeeded', turns: 2 });
    expect([asked, staged.file('wall')]).toMatchObject([[{ kind: 'input', text: 'Which colour?' }], 'painted\n']);
  });

  it('ends its run for a person when no answer comes', async () => {
    const staged = stageRun('Paint the wall.', {
      agent: { backend: 'command', command: ask },
      request: { ask: async () => null },
    });
    expect(await staged.end()).toMatchObject({ error: { code: 'agent_input_required' } });
  });
});

describe('docs/agents/command.md', () => {
  it('has an example that is counted', async () => {
    const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/agents/command.md'), 'utf8');
    const example = [...page.matchAll(/```sh\n(?<text>[\s\S]*?)```/g)]
      .map(({ groups }) => groups?.text ?? '')
      .find((text) => text.includes('BATON_REPORT_FILE'));
    const { end, usage, malformed } = await runOf(example ?? '');
    expect([end, malformed]).toEqual(['succeeded', 0]);
    expect(usage).toEqual([{ inputTokens: 1200, outputTokens: 300, totalTokens: 1500, costMicroUsd: 12_500 }]);
  });
});
