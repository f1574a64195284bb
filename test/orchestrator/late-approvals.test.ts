import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { AgentQuestion, QuestionAnswer } from '../../src/core/command/question.ts';
import type { Store } from '../../src/store/store.ts';
import { settings } from '../fake/settings.ts';
import { telling } from '../telling.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, type Scene, type StagedRun } from './scene.ts';

const mayI: AgentQuestion = {
  ...{ kind: 'command', text: 'May I run make?', detail: 'make all', fields: [] },
  requestHash: 'of make all',
};
const yes: QuestionAnswer = { decision: 'accept', values: {} };
const late = settings({ intervalMs: 100, agent: { askTimeoutMs: 60_000 } });

function ask(run: StagedRun | undefined, question = mayI) {
  const asked = { answer: 'none yet' as QuestionAnswer | null | 'none yet' };
  void run?.request.ask(question).then((answer) => {
    asked.answer = answer;
  });
  return asked;
}

/** The run that asked has ended, the person answered too late, and the next run has begun. */
async function answeredLate(decision: QuestionAnswer['decision'], through?: (store: Store) => Store): Promise<Scene> {
  const stage = await begun({ settings: late, ...(through === undefined ? {} : { through }) });
  ask(stage.runs[0]);
  await stage.clock.advance(60_000);
  stage.runs[0]?.end();
  await stage.clock.advance(0);
  const [question] = await stage.store.questions.open(stage.project);
  await stage.command('question_answer', { question: question?.id, decision });
  await stage.clock.advance(0);
  expect(stage.runs).toHaveLength(2);
  return stage;
}

const openOf = ({ store, project }: Scene) => store.questions.open(project);

describe('an approval after the run that asked had ended', () => {
  // @conforms runs.75
  it.each(['accept', 'accept_for_session'] as const)(
    'as %s answers the same request of the next run, once',
    async (decision) => {
      const stage = await answeredLate(decision);
      const first = ask(stage.runs[1]);
      await stage.clock.advance(0);
      // The session it may have been meant for is over: it is for once.
      expect(first.answer).toEqual(yes);
      expect(await openOf(stage)).toEqual([]);
      const second = ask(stage.runs[1]);
      await stage.clock.advance(0);
      expect(second.answer).toBe('none yet');
      expect(await openOf(stage)).toHaveLength(1);
    },
  );

  it('is in the events of the run, with the person who gave it', async () => {
    const stage = await answeredLate('accept');
    ask(stage.runs[1]);
    await stage.clock.advance(5_000);
    const events = await stage.store.runEvents.list(stage.runs[1]?.request.runId ?? '', { afterSeq: 0, limit: 10 });
    expect(events).toMatchObject([{ name: 'approval_auto_approved', summary: telling(mayI.text, '(me ') }]);
  });

  it('answers one of two simultaneous requests', async () => {
    const stage = await answeredLate('accept');
    const both = [ask(stage.runs[1]), ask(stage.runs[1])];
    await stage.clock.advance(0);
    expect(both.map(({ answer }) => answer)).toEqual([yes, 'none yet']);
  });

  it.each<[string, AgentQuestion]>([
    ['another command', { ...mayI, requestHash: 'of make all install' }],
    ['another kind', { ...mayI, kind: 'permission' }],
  ])('does not answer %s', async (_what, question) => {
    const stage = await answeredLate('accept');
    const asked = ask(stage.runs[1], question);
    await stage.clock.advance(0);
    expect(asked.answer).toBe('none yet');
    expect(await openOf(stage)).toHaveLength(1);
  });

  it('is not used by the run after the next', async () => {
    const stage = await answeredLate('accept');
    stage.runs[1]?.request.report({ kind: 'prompt_delivered', hasComments: true });
    await stage.clock.advance(0);
    stage.runs[1]?.fail();
    await stage.clock.advance(60_000);
    const asked = ask(stage.runs[2]);
    await stage.clock.advance(0);
    expect(stage.runs).toHaveLength(3);
    expect(asked.answer).toBe('none yet');
  });

  it('is asked again after a no', async () => {
    const stage = await answeredLate('decline');
    const asked = ask(stage.runs[1]);
    await stage.clock.advance(0);
    expect(asked.answer).toBe('none yet');
  });

  it('is asked again when its use could not be recorded', async () => {
    let isBroken = false;
    const stage = await answeredLate('accept', (store) =>
      storeThrough(store, {
        before: (call) => {
          if (isBroken && call === 'questions.deliver') throw new BatonError('store_unavailable', 'the disk is full');
        },
      }),
    );
    isBroken = true;
    const asked = ask(stage.runs[1]);
    await stage.clock.advance(0);
    expect(asked.answer).toBe('none yet');
    expect(await openOf(stage)).toHaveLength(1);
  });
});
