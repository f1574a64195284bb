import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentQuestion, QuestionAnswer } from '../../../src/core/command/question.ts';
import type { GivenAnswer, QuestionDraft, StoredQuestion } from '../../../src/store/tables/words/questions.ts';
import { anyCharacter } from '../../any-character.ts';
import { onEngine, project, runStart } from '../../conformance/store.ts';
import { runs } from '../../property-runs.ts';
import { engines } from '../engines.ts';

const key = { project, issueId: 'i1' };
const author = { kind: 'person', name: 'Ada' } as const;
const question: AgentQuestion = {
  kind: 'command',
  text: 'May I run it?',
  detail: 'rm -rf build\ncd 漢字 🚲 \u0000',
  fields: [{ name: 'why', label: 'Why', options: ['a', 'b'], allowsOther: true, isSecret: false }],
};
const answer: QuestionAnswer = { decision: 'accept_for_session', values: { why: 'b\u0000 "quoted"', __proto__x: '' } };
const draft = (id: string, over: Partial<QuestionDraft> = {}): QuestionDraft => ({
  ...key,
  id,
  identifier: 'BAT-1',
  runId: 'r1',
  askedAt: 10,
  question,
  ...over,
});
const asked = (id: string, over: Partial<StoredQuestion> = {}): StoredQuestion => ({
  ...draft(id),
  given: null,
  closedAt: null,
  deliveredTo: null,
  ...over,
});
const given = (over: Partial<GivenAnswer> = {}): GivenAnswer => ({ at: 20, author, answer, ...over });
const idsOf = (found: readonly StoredQuestion[]) => found.map(({ id }) => id);

for (const engine of engines) {
  onEngine(engine, 'stores questions', ({ open, place }) => {
    it('from the question to the run that got the answer', async () => {
      const { questions } = await open();
      await questions.ask(draft('q1'));
      expect(await questions.read('q1')).toEqual(asked('q1'));
      expect(await questions.open(project)).toEqual([asked('q1')]);
      expect(await questions.undelivered(key)).toEqual([]);
      expect(await questions.answer('q1', given())).toBe(true);
      const answered = asked('q1', { given: given() });
      expect(await questions.read('q1')).toEqual(answered);
      expect(await questions.open(project)).toEqual([]);
      expect(await questions.undelivered(key)).toEqual([answered]);
      await questions.deliver(['q1', 'never-was'], 'r2');
      expect(await questions.undelivered(key)).toEqual([]);
      expect(await questions.read('q1')).toEqual({ ...answered, deliveredTo: 'r2' });
      expect(await questions.read('no')).toBeNull();
    });

    // @conforms runs.17
    it('accepts one answer, however many come at once and from any source', async () => {
      const where = await place();
      const stores = [await open(where), await open(where), await open(where)];
      await stores[0]?.questions.ask(draft('q1'));
      const names = Array.from({ length: 12 }, (_, index) => `person ${index}`);
      const taken = await Promise.all(
        names.map(
          async (name, index) =>
            await stores[index % stores.length]?.questions.answer('q1', given({ author: { kind: 'person', name } })),
        ),
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
      const winner = names[taken.indexOf(true)];
      expect((await stores[1]?.questions.read('q1'))?.given?.author).toEqual({ kind: 'person', name: winner });
    });

    it('is answered or closed, never both, when the two come at once', async () => {
      const where = await place();
      const [one, two] = [await open(where), await open(where)];
      for (let round = 0; round < 10; round += 1) {
        const id = `q${round}`;
        await one.questions.ask(draft(id));
        const ends = await Promise.all([
          one.questions.answer(id, given()),
          two.questions.close(id, 30),
          two.questions.closeOfIssue(key, 31).then((closed) => closed === 1),
        ]);
        expect(ends.filter(Boolean)).toHaveLength(1);
        const found = await one.questions.read(id);
        expect([found?.given !== null, found?.closedAt !== null].filter(Boolean)).toHaveLength(1);
      }
    });

    it('refuses answers to closed, answered or unknown questions, and a second question of the same id', async () => {
      const { questions } = await open();
      for (const id of ['closed', 'answered']) await questions.ask(draft(id));
      expect(await questions.close('closed', 30)).toBe(true);
      expect(await questions.answer('answered', given())).toBe(true);
      for (const id of ['closed', 'answered', 'no']) {
        expect(await questions.answer(id, given({ at: 99 }))).toBe(false);
        expect(await questions.close(id, 99)).toBe(false);
      }
      expect(await questions.read('closed')).toEqual(asked('closed', { closedAt: 30 }));
      await expect(questions.ask(draft('closed'))).rejects.toMatchObject({ code: 'store_constraint' });
      // What nobody answered is told to nobody.
      await questions.deliver(['closed'], 'r9');
      expect((await questions.read('closed'))?.deliveredTo).toBeNull();
    });

    it('delivers an answer to one run: the first that took it', async () => {
      const { questions } = await open();
      await questions.ask(draft('q1'));
      await questions.answer('q1', given());
      await questions.deliver(['q1'], 'r2');
      await questions.deliver(['q1'], 'r3');
      await questions.deliver([], 'r4');
      expect((await questions.read('q1'))?.deliveredTo).toBe('r2');
    });

    it('lists by project and issue: open ones from the oldest, all from the newest', async () => {
      const { questions } = await open();
      const all = [
        draft('a', { askedAt: 3 }),
        draft('b', { askedAt: 1 }),
        draft('c', { askedAt: 2, issueId: 'i2' }),
        draft('d', { askedAt: 2 }),
        draft('e', { askedAt: 2, project: 'beta' }),
      ];
      for (const each of all) await questions.ask(each);
      expect(idsOf(await questions.open(project))).toEqual(['b', 'c', 'd', 'a']);
      expect(idsOf(await questions.list(project, { limit: 9 }))).toEqual(['a', 'd', 'c', 'b']);
      expect(idsOf(await questions.list(project, { limit: 2, issueId: 'i1' }))).toEqual(['a', 'd']);
      expect(await questions.closeOfIssue(key, 5)).toBe(3);
      expect(await questions.closeOfIssue(key, 6)).toBe(0);
      expect(idsOf(await questions.open(project))).toEqual(['c']);
      expect(idsOf(await questions.open('beta'))).toEqual(['e']);
    });

    it('returns undelivered answers from the oldest question on, of that issue only', async () => {
      const { questions } = await open();
      for (const [id, over] of Object.entries({
        late: { askedAt: 9 },
        early: { askedAt: 1 },
        other: { askedAt: 1, issueId: 'i2' },
        open: { askedAt: 1 },
      }))
        await questions.ask(draft(id, over));
      for (const id of ['early', 'late', 'other']) await questions.answer(id, given());
      expect(idsOf(await questions.undelivered(key))).toEqual(['early', 'late']);
      await questions.deliver(
        Array.from({ length: 1_200 }, (_, index) => (index === 1_100 ? 'early' : `no-${index}`)),
        'r2',
      );
      expect(idsOf(await questions.undelivered(key))).toEqual(['late']);
    });

    it('follows the transaction that it is in, and survives the run that asked', async () => {
      const store = await open();
      await expect(
        store.transaction(async ({ questions }) => {
          await questions.ask(draft('q1'));
          throw new Error('changed my mind');
        }),
      ).rejects.toThrow('changed my mind');
      expect(await store.questions.read('q1')).toBeNull();
      await store.runs.start(runStart('r1'));
      await store.questions.ask(draft('q1'));
      await store.runs.finish('r1', 1, { endedAt: 1, outcome: 'failed', errorCode: null, errorMessage: null });
      expect(await store.runs.prune(2, 9)).toEqual(['r1']);
      expect(idsOf(await store.questions.open(project))).toEqual(['q1']);
    });

    // @conforms runs.19
    it('prunes ended questions, the oldest first and up to the limit, and never one that is still open', async () => {
      const { questions } = await open();
      for (const id of ['open', 'closed', 'told', 'untold', 'fresh answer', 'young'])
        await questions.ask(draft(id, { askedAt: id === 'young' ? 100 : 10 }));
      await questions.close('closed', 11);
      await questions.close('young', 101);
      for (const id of ['told', 'untold']) await questions.answer(id, given());
      await questions.deliver(['told'], 'r2');
      // Asked long ago and answered now: no run can have been told yet.
      await questions.answer('fresh answer', given({ at: 120 }));
      expect(await questions.prune(50, 2)).toBe(2);
      expect(await questions.prune(50, 2)).toBe(1);
      expect(await questions.prune(50, 2)).toBe(0);
      expect(idsOf(await questions.list(project, { limit: 9 })).toSorted()).toEqual(['fresh answer', 'open', 'young']);
      expect(await questions.prune(1_000, 9)).toBe(2);
      expect(idsOf(await questions.list(project, { limit: 9 }))).toEqual(['open']);
    });

    // @conforms runs.18
    it('reads damaged rows as questions that can be closed, and an unreadable answer as a no', async () => {
      const where = await place();
      const { questions } = await open(where);
      const garbage = ['', '{', 'null', '[]', '7', '"text"', '{"kind":"bribe","text":5,"fields":[null,{},"x",[]]}'];
      for (const [index, text] of garbage.entries()) {
        await questions.ask(draft(`q${index}`));
        await questions.answer(`q${index}`, given());
        await where.query(`update questions set question_json = '${text}', answer_json = '${text}',
          author_json = '${text}' where id = 'q${index}'`);
      }
      await questions.ask(draft('well'));
      const unread = { kind: 'input', text: expect.stringMatching(/\S/), detail: '' };
      const unsaid = {
        at: 20,
        author: { kind: 'person', name: 'unknown' },
        answer: { decision: 'decline', values: {} },
      };
      const found = await questions.list(project, { limit: 99 });
      expect(found).toHaveLength(garbage.length + 1);
      for (const each of found.filter(({ id }) => id !== 'well')) {
        expect(each.question).toMatchObject(unread);
        expect(each.given).toEqual(unsaid);
        for (const field of each.question.fields) expect(field).toMatchObject({ name: '', label: '', options: [] });
      }
      expect(found.find(({ id }) => id === 'well')).toEqual(asked('well'));
    });

    it('returns every question and answer unchanged', async () => {
      const { questions } = await open();
      const text = fc.string({ unit: anyCharacter });
      const field = fc.record({
        name: text,
        label: text,
        options: fc.array(text, { maxLength: 3 }),
        allowsOther: fc.boolean(),
        isSecret: fc.boolean(),
      });
      const questionDrawn: fc.Arbitrary<AgentQuestion> = fc.record({
        kind: fc.constantFrom('command', 'file_change', 'permission', 'tool', 'input'),
        text,
        detail: text,
        fields: fc.array(field, { maxLength: 3 }),
      });
      const answerDrawn: fc.Arbitrary<QuestionAnswer> = fc.record({
        decision: fc.constantFrom('accept', 'accept_for_session', 'decline'),
        values: fc.dictionary(text, text),
      });
      let count = 0;
      await fc.assert(
        fc.asyncProperty(questionDrawn, answerDrawn, async (wanted, said) => {
          const id = `drawn-${count++}`;
          await questions.ask(draft(id, { question: wanted }));
          await questions.answer(id, given({ answer: said }));
          const found = await questions.read(id);
          expect(found?.question).toEqual(wanted);
          expect(found?.given?.answer.decision).toBe(said.decision);
          expect(Object.entries(found?.given?.answer.values ?? {})).toEqual(Object.entries(said.values));
        }),
        { numRuns: runs(40) },
      );
    });
  });
}
