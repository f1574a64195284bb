import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fence } from '../../src/core/text/fence.ts';
import { createRedactor } from '../../src/core/text/redact.ts';
import { Secret } from '../../src/core/text/secret.ts';
import { promptEvents } from '../../src/runner/transcript-events.ts';
import { transcriptLine } from '../../src/store/transcripts/transcript-line.ts';
import { anyCharacter } from '../any-character.ts';
import { runs } from '../property-runs.ts';
import { script, stageRun } from './stage-run.ts';

const fenceMark = '2f6c0d1e-77aa-4b1c-8d2e-0123456789ab';
const at = { at: 7, pid: null, turn: 1, fenceMark };

interface ToldPart {
  readonly text: string;
  readonly is_untrusted: boolean;
}

const partsIn = (events: readonly { readonly payload?: unknown }[]): ToldPart[] =>
  events.flatMap(({ payload }) => (payload as { readonly parts: readonly ToldPart[] }).parts);
const textOf = (parts: readonly ToldPart[]): string => parts.map(({ text }) => text).join('');

describe('the transcript of a prompt', () => {
  it('contains the whole prompt, in lines that a transcript can hold', () => {
    const redactor = createRedactor([]);
    const piece = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('\ud83d\ude00'.repeat(20_000), '\u0001'.repeat(40_000), `BEGIN-${fenceMark}`, `END-${fenceMark}`),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join('');
        const events = promptEvents({ ...at, text, redactor });
        expect(textOf(partsIn(events))).toBe(text);
        for (const { name, summary, payload } of events) {
          const line = transcriptLine({ seq: 1, at: 7, run: 'r', name, summary, payload });
          expect(JSON.parse(line)).toHaveProperty('payload.turn', 1);
        }
      }),
      { numRuns: runs(60) },
    );
  });

  it('marks exactly the text inside a fence, also where a part is cut', () => {
    const redactor = createRedactor([]);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string({ minLength: 1 })), { maxLength: 4 }), (pairs) => {
        const inside = pairs.map(([, theirs]) => fence(theirs, fenceMark));
        const text = pairs.map(([ours], index) => `${ours}${inside[index]}`).join('\n');
        const strange = partsIn(promptEvents({ ...at, text, redactor })).filter((part) => part.is_untrusted);
        const wanted = inside
          .filter((each) => each !== '')
          .map((each) => each.slice(fenceMark.length + 6, -(fenceMark.length + 4)));
        expect(strange.map((part) => part.text)).toEqual(wanted);
      }),
    );
  });

  it('treats text after an unclosed fence as untrusted', () => {
    const text = `do this BEGIN-${fenceMark} and that`;
    expect(partsIn(promptEvents({ ...at, text, redactor: createRedactor([]) }))).toEqual([
      { text: `do this BEGIN-${fenceMark}`, is_untrusted: false },
      { text: ' and that', is_untrusted: true },
    ]);
  });

  // @conforms api.15
  it('contains no secret, not even one at a cut', () => {
    const secret = 'sk-canary-0123456789';
    const text = `${'x'.repeat(31_990)}${secret}${'y'.repeat(10)}`;
    const events = promptEvents({ ...at, text, redactor: createRedactor([secret]) });
    expect(textOf(partsIn(events))).toBe(`${'x'.repeat(31_990)}[secret]${'y'.repeat(10)}`);
    expect(JSON.stringify(events)).not.toContain('canary');
  });
});

describe('a run', () => {
  it('reports each prompt before its turn begins, as the agent gets it, without secrets of the settings', async () => {
    const key = 'sk-canary-account-key-0123456789';
    const staged = stageRun(script('say hello'), {
      agent: { maxTurns: 2 },
      account: { env: { OPENAI_API_KEY: new Secret(key) } },
      renderPrompt: ({ fenceMark: mark }) =>
        `The key is ${key}. ${mark === null ? '' : fence('Do it', mark)}\n${script('say hello')}`,
    });
    await staged.end();
    const names = staged.events.map(({ name }) => name).filter((name) => /^turn_(prompt|started)$/.test(name));
    expect(names).toEqual(['turn_prompt', 'turn_started', 'turn_prompt', 'turn_started']);
    const prompts = staged.events.filter(({ name }) => name === 'turn_prompt');
    expect(prompts.map((event) => textOf(partsIn([event])))).toEqual(
      staged.prompts.map((text) => text.replace(key, '[secret]')),
    );
    expect(partsIn(prompts).filter((part) => part.is_untrusted)).toEqual([{ text: ' Do it ', is_untrusted: true }]);
    expect(prompts.map(({ payload }) => (payload as { turn: number }).turn)).toEqual([1, 2]);
  });
});
