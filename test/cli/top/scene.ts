import type { TopAnswer } from '../../../src/cli/top/top-source.ts';
import type { Now } from '../../../src/client/schema/now.ts';
import type { Question } from '../../../src/client/schema/question.ts';
import type { RunEvent } from '../../../src/client/schema/run.ts';

/** What the daemon of `scripted-top.ts` says. */
export interface Scene {
  readonly address: string | null;
  /** Null: it does not answer. */
  readonly nows: readonly Now[] | null;
  readonly issue: {
    readonly questions: readonly Question[];
    readonly explanation: null;
    readonly why_unknown: null;
    readonly retry: null;
    readonly title: string;
  };
  readonly events: readonly RunEvent[];
  readonly answer: TopAnswer;
  /** Something throws that should not. */
  readonly isBroken: boolean;
}
