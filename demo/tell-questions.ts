import { findQuestion } from '../src/cli/ask/find-question.ts';
import { isOpen } from '../src/cli/ask/question-state.ts';
import type { AgentQuestion } from '../src/core/command/question.ts';
import type { Logger } from '../src/core/logger.ts';
import { durationText } from '../src/core/text/amount-text.ts';
import { harmlessLine } from '../src/core/text/harmless-line.ts';
import { shellArgument } from '../src/daemon/shell-argument.ts';
import { shellWord } from '../src/daemon/shell-word.ts';
import type { Workplace } from '../src/daemon/workplace.ts';
import type { ReadModel } from '../src/orchestrator/view/read-model.ts';
import { type AskingIssue, askingIssues } from './asking-issues.ts';
import type { DemoFolder } from './make-demo.ts';
import type { Announcement } from './screen.ts';

export interface TellParts {
  readonly workplace: Workplace;
  readonly folder: DemoFolder;
  /** How the reader starts Baton. */
  readonly batonPath: string;
  readonly say: (announcement: Announcement) => void;
  readonly logger: Logger;
}

/**
 * Tells people what an agent asks them, with the whole line that answers it: once when it asks, and once more when nobody
 * answered in time. Gives what is to be called after each change.
 */
export function tellQuestions({ workplace, folder, batonPath, say, logger }: TellParts): (model: ReadModel) => void {
  const told = new Set<string>();
  const tell = async (asking: AskingIssue, now: number): Promise<void> => {
    const stored = await findQuestion(workplace, asking.issue.identifier);
    // Held for a question that is no more: the reason of the hold is all there is to say.
    if (!isOpen(stored)) return;
    const { identifier, question } = stored;
    const command = `${answerCommand(batonPath, identifier, question)} ${placeFlags(folder)}`;
    const asked = harmlessLine(question.text);
    say({
      lines: [
        `${identifier} asks you: ${asked}`,
        ...optionsOf(question).map((option, at) => `  ${at + 1}  ${harmlessLine(option)}`),
        `  ${waitSentence(asking.until, now)} To answer, in another terminal:`,
        `  ${command}`,
      ],
      json: {
        ...{ identifier, question: asked, options: optionsOf(question), command },
        waits_until: asking.until === null ? null : new Date(asking.until).toISOString(),
      },
    });
  };
  return (model) => {
    for (const asking of askingIssues(model)) {
      if (told.has(asking.key)) continue;
      told.add(asking.key);
      tell(asking, model.at).catch((error) => logger.warn('demo_questions_unreadable', { error }));
    }
  };
}

function waitSentence(until: number | null, now: number): string {
  if (until === null)
    return 'Nobody answered in time; the ticket is held with its question, and an answer lets it go on.';
  const leftMs = Math.ceil(Math.max(0, until - now) / 1_000) * 1_000;
  return `Its agent waits ${durationText(leftMs)} for you; the others go on.`;
}

/** With the first answer that is offered. */
function answerCommand(batonPath: string, identifier: string, question: AgentQuestion): string {
  const answer = question.fields.length === 0 ? '--yes' : optionsOf(question).length > 0 ? '1' : "'your answer'";
  return `${shellArgument(batonPath)} ask answer ${shellArgument(identifier)} ${answer}`;
}

function optionsOf({ fields }: AgentQuestion): readonly string[] {
  return fields[0]?.options ?? [];
}

/** How a command of the reader finds this demo. */
export function placeFlags({ workflow, stateDir }: DemoFolder): string {
  return `--workflow ${shellWord(workflow)} --state-dir ${shellWord(stateDir)}`;
}
