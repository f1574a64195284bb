import { describe, expect, it } from 'vitest';
import type { AgentQuestion } from '../../src/core/command/question.ts';
import type { LimitSettings } from '../../src/core/settings.ts';
import { settings } from '../fake/settings.ts';
import { begun, type Scene, type StagedRun } from './scene.ts';

const minuteMs = 60_000;
const which: AgentQuestion = { kind: 'input', text: 'Which colour?', detail: '', fields: [] };

const limited = (limits: Partial<LimitSettings>) =>
  begun({
    settings: settings({
      intervalMs: 30_000,
      limits,
      agent: { stallTimeoutMs: 0, askTimeoutMs: 600 * minuteMs, approvals: 'ask' },
    }),
  });

function ask(run: StagedRun | undefined): AbortController {
  const over = new AbortController();
  void run?.request.ask(which, over.signal);
  return over;
}

async function answer(stage: Scene, at = 0): Promise<void> {
  const open = await stage.store.questions.open(stage.project);
  const done = await stage.command('question_answer', { question: open[at]?.id, decision: 'accept' });
  expect(done).toMatchObject({ status: 'done' });
}

describe('the time in which a run waits for a person', () => {
  // @conforms runs.42
  it('does not count towards the time of the run, during and after it', async () => {
    const stage = await limited({ runWallTimeMs: 10 * minuteMs });
    await stage.clock.advance(4 * minuteMs);
    ask(stage.runs[0]);
    await stage.clock.advance(120 * minuteMs);
    expect(stage.runs[0]?.stops).toEqual([]);
    expect(stage.orchestrator.read().running[0]?.warnings).toEqual([]);
    await answer(stage);
    await stage.clock.advance(5 * minuteMs);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(2 * minuteMs);
    expect(stage.runs[0]?.stops).toEqual(['limit_reached']);
  });

  it('counts once for two open questions, and ends with the last of them', async () => {
    const stage = await limited({ runWallTimeMs: 10 * minuteMs });
    const first = ask(stage.runs[0]);
    await stage.clock.advance(3 * minuteMs);
    ask(stage.runs[0]);
    await stage.clock.advance(30 * minuteMs);
    // The agent takes the first one back.
    first.abort();
    await stage.clock.advance(30 * minuteMs);
    expect(stage.runs[0]?.stops).toEqual([]);
    await answer(stage);
    await stage.clock.advance(9 * minuteMs);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(2 * minuteMs);
    expect(stage.runs[0]?.stops).toEqual(['limit_reached']);
  });

  // @conforms runs.42
  it('does not count towards the time of all runs of an issue', async () => {
    const stage = await limited({ issueWallTimeMs: 10 * minuteMs });
    await stage.clock.advance(4 * minuteMs);
    ask(stage.runs[0]);
    await stage.clock.advance(60 * minuteMs);
    await answer(stage);
    stage.runs[0]?.succeed();
    await stage.clock.advance(1_000);
    expect(stage.runs).toHaveLength(2);
    await stage.clock.advance(5 * minuteMs);
    expect(stage.runs[1]?.stops).toEqual([]);
    await stage.clock.advance(2 * minuteMs);
    expect(stage.runs[1]?.stops).toEqual(['limit_reached']);
  });

  it('does not grow by questions that are refused', async () => {
    const stage = await limited({ runWallTimeMs: 10 * minuteMs });
    for (let minute = 0; minute < 11; minute += 1) {
      ask(stage.runs[0]).abort();
      await stage.clock.advance(minuteMs);
    }
    expect(stage.runs[0]?.stops).toEqual(['limit_reached']);
  });
});
