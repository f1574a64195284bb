import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../src/agent/agent.ts';
import { sleep } from '../../src/clock/clock.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { answersText } from '../../src/core/command/answer-text.ts';
import type { AgentQuestion, QuestionAnswer } from '../../src/core/command/question.ts';
import type { ToolHost, ToolSet } from '../../src/core/tool-set.ts';
import { firstPrompt } from '../../src/runner/prompts.ts';
import { telling } from '../telling.ts';
import { scratchRepository } from '../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';
import { note, script, stageRun } from './stage-run.ts';

const accept = (values: Record<string, string>): QuestionAnswer => ({ decision: 'accept', values });
const answerField = { name: 'answer', label: 'Answer', options: [], allowsOther: true, isSecret: false };
const earlier = { endedBecause: 'It was cut.', turns: 1, lastMessage: 'Half done.', evidence: null };

describe('an agent that asks a person', () => {
  it('gets the answer and continues in the same turn', async () => {
    const asked: AgentQuestion[] = [];
    const staged = stageRun(script('ask Which colour?', '| red', '| blue', 'move Done'), {
      request: {
        ask: async (question) => {
          asked.push(question);
          return accept({ answer: 'blue' });
        },
      },
    });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(asked).toMatchObject([{ kind: 'input', text: 'Which colour?', fields: [{ options: ['red', 'blue'] }] }]);
    expect(staged.messages).toEqual(['answered: blue']);
  });

  it('and cannot continue gets the answer as its next prompt, even beyond the last turn', async () => {
    const asked: AgentQuestion[] = [];
    const staged = stageRun('A ticket without a script.', {
      agent: { maxTurns: 1 },
      request: {
        // It asks the same again, and then nobody answers.
        ask: async (question) => (asked.push(question) === 1 ? accept({ answer: 'Whatever you like.' }) : null),
      },
    });
    expect(await staged.end()).toMatchObject({ turns: 2, left: 0, error: { code: 'agent_input_required' } });
    expect(asked[0]).toMatchObject({ kind: 'input', fields: [answerField] });
    const [question] = asked;
    if (question === undefined) throw new Error('Nobody was asked.');
    expect(staged.prompts[1]).toBe(answersText([{ question, answer: accept({ answer: 'Whatever you like.' }) }]));
    expect(staged.processes).toHaveLength(1);
  });

  // @conforms dashboard.45
  it('follows the choice of a person, and asks again afterwards', async () => {
    const chosen = ['first', 'last'];
    const staged = stageRun('A ticket without a script.', {
      request: {
        // The question names what there is to choose: first a small piece of work, last a failure.
        ask: async ({ text }) => {
          const choices = [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
          return accept({ answer: choices.at(chosen.shift() === 'first' ? 0 : -1) ?? '' });
        },
      },
    });
    // The tracker has no state for a review and the folder is no repository: it goes on all the same.
    expect(await staged.end()).toMatchObject({ turns: 4, error: { code: 'agent_turn_failed' } });
    expect(staged.file('rehearsal.md')).toContain('T-1');
  });

  // @conforms api.65
  it('has the answer in the transcript, whether it continued at once or in a later run', async () => {
    const secret = { ...answerField, name: 'word', isSecret: true };
    const question = { kind: 'input', text: 'Which?', detail: '', fields: [answerField, secret] } as const;
    const staged = stageRun(script('ask Which colour?', 'move Done'), {
      request: {
        ask: async () => accept({ answer: 'blue' }),
        answers: [{ question, answer: accept({ answer: 'red', word: 'swordfish' }) }],
        messages: [note('Mind the step.')],
      },
    });
    await staged.end();
    const said = staged.events.filter(({ name }) => name === 'person_said');
    expect(said.map(({ payload }) => payload)).toEqual([
      { kind: 'answer', question: 'Which?', text: 'red, [secret]' },
      { kind: 'note', text: 'Mind the step.' },
      { kind: 'answer', question: 'Which colour?', text: 'blue' },
    ]);
    expect(said.map(({ summary }) => summary)).toEqual([
      telling('red, [secret]'),
      telling('Mind the step.'),
      telling('blue'),
    ]);
    expect(JSON.stringify(said)).not.toContain('swordfish');
  });

  it('has its question withdrawn when the run is stopped', async () => {
    const signals: AbortSignal[] = [];
    const staged = stageRun(script('ask Which colour?'), {
      request: {
        ask: (_question, signal) => {
          if (signal !== undefined) signals.push(signal);
          return new Promise(() => {});
        },
      },
    });
    await expect.poll(() => signals.length).toBe(1);
    staged.run.stop('shutdown');
    expect(await staged.end()).toMatchObject({ end: 'interrupted', left: 0 });
    expect(signals[0]?.aborted).toBe(true);
  });

  it('gets a no when asking fails, and the run ends', async () => {
    const staged = stageRun(script('ask Which colour?'), {
      request: { ask: () => Promise.reject(new Error('no store')) },
    });
    expect(await staged.end()).toMatchObject({
      end: 'failed',
      left: 0,
      error: { code: 'agent_turn_failed', message: telling('Which colour?') },
    });
    expect(staged.logger.events()).toContain('question_failed');
  });
});

describe('a run that resumes a thread', () => {
  it('continues where it was, and its agent learns why and gets the answers', async () => {
    const rehearsalHome = scratchFolder();
    const ticket = script(
      'append steps.txt',
      '| one',
      'quota 60000',
      'ask Which colour?',
      'append steps.txt',
      '| two',
      'move Done',
    );
    const first = stageRun(ticket, { rehearsalHome });
    expect(await first.end()).toMatchObject({ end: 'failed', error: { code: 'agent_quota_exhausted' } });
    expect(first.told).toContain('prompt delivered');
    const [threadId = null] = first.threads;
    const question = { kind: 'input', text: 'Which colour?', detail: '', fields: [answerField] } as const;
    const answers = [{ question, answer: accept({ answer: 'blue' }) }];
    const second = stageRun(ticket, {
      rehearsalHome,
      request: { threadId, retryKind: 'answered', answers, earlier },
    });
    expect(await second.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(second.threads).toEqual([threadId]);
    expect(second.file('steps.txt')).toBe('two\n');
    expect(second.messages).toEqual(['answered: Answer: blue']);
    expect(second.prompts[0]).not.toContain('```rehearsal');
    expect(second.told).toEqual(['process', 'prompt delivered', 'process ended', 'changed: true']);
  });

  it('that is gone gets the whole prompt, the facts of the previous run, and the answers', async () => {
    const ticket = script('ask Which colour?', 'move Done');
    const question = { kind: 'input', text: 'Which colour?', detail: '', fields: [answerField] } as const;
    const answers = [{ question, answer: accept({ answer: 'blue' }) }];
    const staged = stageRun(ticket, {
      request: {
        threadId: 'gone',
        retryKind: 'answered',
        answers,
        earlier,
        ask: () => Promise.reject(new Error('asked')),
      },
    });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(staged.prompts[0]).toContain(ticket);
    expect(staged.prompts[0]).toContain('> Half done.');
    expect(staged.messages).toEqual(['answered: Answer: blue']);
  });

  it('runs out of quota the given number of times, each in its own run', async () => {
    const rehearsalHome = scratchFolder();
    let threadId: string | null = null;
    const codes: string[] = [];
    for (let run = 0; run < 3; run += 1) {
      const staged = stageRun(script('quota 60000 2', 'move Done'), {
        rehearsalHome,
        request: { threadId, ...(run === 0 ? {} : { retryKind: 'quota', earlier }) },
      });
      const outcome = await staged.end();
      codes.push(outcome.end === 'succeeded' ? 'succeeded' : outcome.error.code);
      threadId = staged.threads[0] ?? null;
    }
    expect(codes).toEqual(['agent_quota_exhausted', 'agent_quota_exhausted', 'succeeded']);
  });

  it('repeats only the interrupted step and nothing before it', async () => {
    const rehearsalHome = scratchFolder();
    const ticket = script('append steps.txt', '| one', 'say here', 'wait 1500', 'move Done');
    const first = stageRun(ticket, { rehearsalHome });
    await expect.poll(() => first.events.at(-1)?.summary).toBe('here');
    first.run.stop('shutdown');
    await first.end();
    const request = { threadId: first.threads[0] ?? null, retryKind: 'interrupted', earlier } as const;
    const second = stageRun(ticket, { rehearsalHome, request });
    expect(await second.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(second.file('steps.txt')).toBeNull();
  });

  it('that was full continues after the compaction', async () => {
    const rehearsalHome = scratchFolder();
    const ticket = script('context token', 'move Done');
    const first = stageRun(ticket, { rehearsalHome });
    expect(await first.end()).toMatchObject({ error: { code: 'agent_context_exhausted' } });
    const asked: SessionRequest[] = [];
    const request = { threadId: first.threads[0] ?? null, retryKind: 'failure', recovery: 'compact', earlier } as const;
    const second = stageRun(ticket, {
      rehearsalHome,
      request,
      onSessionRequest: (each) => void asked.push(each),
    });
    expect(await second.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(asked).toMatchObject([{ threadId: first.threads[0], recovery: { compact: true } }]);
    const known = { ...request, answers: [], answersBefore: [], messages: [] };
    expect(second.prompts[0]).toBe(
      firstPrompt({
        request: known,
        whole: ticket,
        isResumed: true,
        said: [],
        fenceMark: 'a-mark-no-one-could-know',
        comments: { comments: [], hasEarlier: false },
        change: null,
      }),
    );
  });

  it('without memory of it runs out of quota once', async () => {
    const staged = stageRun(script('quota 60000', 'move Done'), { request: { retryKind: 'quota', earlier } });
    expect(await staged.end()).toMatchObject({ end: 'succeeded' });
  });
});

describe('a turn that fails', () => {
  it('for lack of quota reports when there is more', async () => {
    const from = Date.now();
    const outcome = await stageRun(script('quota 60000')).end();
    expect(outcome).toMatchObject({ error: { code: 'agent_quota_exhausted' } });
    const resetsAt = outcome.end === 'succeeded' ? 0 : Number(outcome.error.details.resets_at);
    expect(resetsAt - from).toBeGreaterThanOrEqual(60_000);
    expect(resetsAt - Date.now()).toBeLessThanOrEqual(60_000);
  });

  it.each([
    ['context', 'agent_context_exhausted', { kind: 'context' }],
    ['context token', 'agent_context_exhausted', { kind: 'token' }],
    ['auth Run a login.', 'agent_auth_failed', {}],
  ])('by the step %s has the code %s', async (step, code, details) => {
    expect(await stageRun(script(step)).end()).toMatchObject({ end: 'failed', left: 0, error: { code, details } });
  });

  // @conforms runs.8
  it('because it takes too long is cancelled, and names the setting', async () => {
    const staged = stageRun(script('say here', 'wait 600000'), { agent: { turnWallTimeMs: 700 } });
    expect(await staged.end()).toMatchObject({
      end: 'timed_out',
      left: 0,
      error: { code: 'agent_turn_timeout', message: expect.stringContaining('agent.turn_wall_time_ms') },
    });
  });

  it('is not one in which a person takes long to answer', async () => {
    const staged = stageRun(script('ask Which colour?', 'move Done'), {
      agent: { turnWallTimeMs: 1_500 },
      request: {
        ask: async () => {
          await sleep(systemClock, 2_500);
          return accept({ answer: 'red' });
        },
      },
    });
    expect(await staged.end()).toMatchObject({ end: 'succeeded' });
  });
});

describe('turns without progress', () => {
  // @conforms runs.6
  it('end the run as a stalemate with the last message', async () => {
    const staged = stageRun(script('idle I cannot go on.'), { agent: { maxIdleTurns: 3 } });
    expect(await staged.end()).toMatchObject({
      end: 'failed',
      turns: 3,
      left: 0,
      error: { code: 'run_stalemate', message: expect.stringContaining('"I cannot go on."') },
    });
    expect(staged.messages).toEqual(Array(3).fill('I cannot go on.'));
  });

  it('count from the last change on', async () => {
    const staged = stageRun(script('write made.txt', '| x', 'say Done.', 'next turn', 'idle Done.'), {
      agent: { maxIdleTurns: 2 },
    });
    expect(await staged.end()).toMatchObject({ turns: 3, error: { code: 'run_stalemate' } });
  });

  // @conforms runs.41
  it('start counting again when a person answers during one', async () => {
    const turns = ['say Done.', 'next turn', 'ask Which colour?', 'say Done.', 'next turn', 'idle Done.'];
    const staged = stageRun(script(...turns), {
      agent: { maxIdleTurns: 2 },
      request: { ask: async () => accept({ answer: 'red' }) },
    });
    expect(await staged.end()).toMatchObject({ turns: 4, error: { code: 'run_stalemate' } });
  });

  // @conforms runs.41
  it('start counting again when a person steers one, even with a limit of one', async () => {
    const heard: string[] = [];
    const staged = stageRun(script('say here', 'wait 1500', 'say Done.', 'next turn', 'idle Done.'), {
      agent: { maxIdleTurns: 1 },
      report: (fact) => {
        if (fact.kind === 'event' && fact.event.summary === 'here')
          void staged.run.steer('Look again.').then((how) => heard.push(how));
      },
    });
    expect(await staged.end()).toMatchObject({ turns: 2, error: { code: 'run_stalemate' } });
    expect(heard).toEqual(['delivered']);
  });

  it('end the run well when the issue needs no more work, or the check is off', async () => {
    const done = stageRun(script('idle Done.'), { agent: { maxIdleTurns: 1 }, readIssue: async () => null });
    expect(await done.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    const off = stageRun(script('idle Done.'), { agent: { maxIdleTurns: 0, maxTurns: 4 } });
    expect(await off.end()).toEqual({ end: 'succeeded', turns: 4, left: 0 });
  });
});

describe('a message of a person', () => {
  it('reaches the agent during a turn', async () => {
    const staged = stageRun(script('say here', 'wait 600000'));
    await expect.poll(() => staged.events.at(-1)?.summary).toBe('here');
    expect(await staged.run.steer('Use the other door.')).toBe('delivered');
    expect(staged.run.canHear?.()).toBe(true);
    expect(staged.events).toContainEqual(
      expect.objectContaining({ name: 'person_said', payload: { kind: 'steer', text: 'Use the other door.' } }),
    );
    await expect.poll(() => staged.events.at(-1)?.summary).toBe('received: Use the other door.');
    staged.run.stop('shutdown');
    await expect(staged.run.steer('late')).rejects.toMatchObject({ code: 'command_refused' });
    await staged.end();
  });

  it('before the agent exists is in its first prompt', async () => {
    const staged = stageRun('cat > prompt.txt', { agent: { backend: 'command', command: 'cat > prompt.txt' } });
    expect(await staged.run.steer('Mind the step.')).toBe('queued');
    await staged.end();
    expect(staged.file('prompt.txt')).toMatch(/^cat > prompt\.txt\n\n.+\n\nMind the step\.$/s);
  });

  it('between two turns gets its own turn, even beyond the last', async () => {
    const staged = stageRun(script('say one', 'next turn', 'move Done'), {
      agent: { maxTurns: 1 },
      report: (fact) => void (fact.kind === 'message' && staged.run.steer('One thing more.')),
    });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 2, left: 0 });
    expect(staged.prompts[1]).toMatch(/\n\nOne thing more\.$/);
  });

  it('is refused by an agent that has one turn and takes no messages in it', async () => {
    const staged = stageRun('', { agent: { backend: 'command', command: 'echo here; sleep 600' } });
    await expect.poll(() => staged.events.at(-1)?.summary).toBe('here');
    expect(staged.run.canHear?.()).toBe(false);
    await expect(staged.run.steer('Hurry.')).rejects.toMatchObject({ code: 'command_refused' });
    staged.run.stop('shutdown');
    await staged.end();
  });
});

describe('the tools of a run over HTTP', () => {
  function host(order: string[]): ToolHost & { toolSets: Map<string, ToolSet> } {
    const toolSets = new Map<string, ToolSet>();
    return {
      toolSets,
      admit: (runId, toolSet) => {
        toolSets.set(runId, toolSet);
        order.push('admitted');
        return { url: 'http://127.0.0.1:1/mcp', token: 'unguessable' };
      },
      dismiss: (runId) => {
        toolSets.delete(runId);
        order.push('dismissed');
      },
    };
  }

  // @conforms runs.11
  it('exist before the agent starts and until it is gone, and a command gets their address', async () => {
    const order: string[] = [];
    const staged = stageRun('', {
      agent: { backend: 'command', command: 'env > env.txt' },
      toolHost: host(order),
      report: (fact) => {
        if (fact.kind === 'process') order.push(fact.process === null ? 'process ended' : 'process');
      },
    });
    expect(await staged.end()).toMatchObject({ end: 'succeeded' });
    expect(order).toEqual(['admitted', 'process', 'process ended', 'dismissed']);
    expect(staged.file('env.txt')).toMatch(/^BATON_TOOLS_URL=http:\/\/127\.0\.0\.1:1\/mcp$/m);
    expect(staged.file('env.txt')).toMatch(/^BATON_TOOLS_TOKEN=unguessable$/m);
  });

  it('end also without a session, and a command without them gets no address', async () => {
    const order: string[] = [];
    const failing = stageRun('', {
      toolHost: host(order),
      onSessionRequest: () => {
        throw new Error('no agent today');
      },
    });
    expect(await failing.end()).toMatchObject({ end: 'failed' });
    expect(order).toEqual(['admitted', 'dismissed']);
    const without = stageRun('', { agent: { backend: 'command', command: 'env > env.txt' } });
    await without.end();
    expect(without.file('env.txt')).not.toContain('BATON_TOOLS');
  });
});

it('each prompt has its own fence mark that no one can guess', async () => {
  const marks: (string | null)[] = [];
  for (let run = 0; run < 2; run += 1) {
    const staged = stageRun('', {
      agent: { backend: 'command', command: 'true' },
      renderPrompt: ({ fenceMark }) => {
        marks.push(fenceMark);
        return 'prompt';
      },
    });
    await staged.end();
  }
  expect(new Set(marks).size).toBe(2);
  for (const mark of marks) expect(mark).toMatch(/^[0-9a-f-]{36}$/);
});

it('a session gets the title of the work in one line, and the git directory outside the workspace', async () => {
  const source = scratchRepository(path.join(scratchFolder(), 'source'));
  const requests: SessionRequest[] = [];
  const staged = stageRun('', {
    agent: { backend: 'command', command: 'git rev-parse --absolute-git-dir > git-dir.txt' },
    workspace: { repo: { location: source, shown: source, isLocal: true }, strategy: 'worktree' },
    issue: { title: 'Mend\nthe door' },
    onSessionRequest: (request) => void requests.push(request),
  });
  await staged.end();
  const gitDir = staged.file('git-dir.txt')?.trim() ?? '';
  expect(gitDir.startsWith(staged.workspace)).toBe(false);
  expect(requests).toMatchObject([{ title: 'T-1: Mend the door', writableRoots: [gitDir] }]);
});
