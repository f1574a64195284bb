import { BatonError, toBatonError } from '../core/baton-error.ts';
import { errorCatalogue, isCatalogued } from '../core/error-catalogue.ts';
import type { ToolAnswer } from '../core/tool-door.ts';
import { unsupportedToolText } from './fixed-texts.ts';

/**
 * A failure for an agent: `{"error":{"code","message","next_step","retryable",…}}`, one JSON object without JSON nested
 * in a text. The next steps of the catalogue are for people; an agent gets a different one if it needs it.
 */
export function failureAnswer(thrown: unknown, beside: Readonly<Record<string, unknown>> = {}): ToolAnswer {
  const error = toBatonError(thrown);
  return {
    success: false,
    output: JSON.stringify({ error: { ...error.toJSON(), next_step: nextStepOf(error), ...beside } }),
  };
}

/** For temporary failures the catalogue says that Baton tries again. That is not true for a tool call of an agent. */
function nextStepOf({ code, retryable, nextStep }: BatonError): string {
  const isForPeople = isCatalogued(code) && nextStep === errorCatalogue[code].nextStep;
  return isForPeople && retryable && /^(?:tracker|request|store)_/.test(code) ? laterStep : nextStep;
}

const laterStep = 'Go on with other work, and call the tool again later: Baton does not do it by itself.';

export function unknownTool(name: string, supportedTools: readonly string[]): ToolAnswer {
  const shown = name.length > longestShownName ? `${name.slice(0, longestShownName)}…` : name;
  return failureAnswer(new BatonError('unsupported_tool_call', unsupportedToolText(shown)), { supportedTools });
}

const longestShownName = 200;

export function claimLost(): ToolAnswer {
  return failureAnswer(
    new BatonError('claim_lost', 'Another daemon may have this ticket by now; nothing was done.', {
      nextStep: 'Stop working: this run is about to end.',
    }),
  );
}

export function takenBack(name: string): ToolAnswer {
  return failureAnswer(
    new BatonError('run_cancelled', `Nobody waits for the answer of ${name} any more.`, {
      nextStep: 'Nothing: the call was taken back, or the run has ended.',
    }),
  );
}

export function hangs(name: string, limitMs: number, changesTracker: boolean): ToolAnswer {
  const doubt = changesTracker ? ' Whether the change was made is not known.' : '';
  return failureAnswer(
    new BatonError('tracker_request', `The tracker did not answer ${name} within ${limitMs / 1_000} seconds.${doubt}`, {
      nextStep: changesTracker ? 'See with get_issue whether it was made before you call the tool again.' : laterStep,
    }),
  );
}
