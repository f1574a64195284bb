import { BatonError, toBatonError } from '../core/baton-error.ts';
import { errorCatalogue, isCatalogued } from '../core/error-catalogue.ts';
import type { ToolAnswer } from '../core/tool-set.ts';
import { unsupportedToolText } from './fixed-texts.ts';

/**
 * A failure for an agent: `{"error":{"code","message","next_step","retryable",…}}`, one JSON object without JSON nested
 * in a text. The next steps of the catalogue are for people; an agent gets a different one if it needs it.
 */
export function failureAnswer(thrown: unknown, extra: Readonly<Record<string, unknown>> = {}): ToolAnswer {
  const error = toBatonError(thrown);
  return {
    success: false,
    output: JSON.stringify({ error: { ...error.toJSON(), next_step: nextStepOf(error), ...extra } }),
  };
}

/** For temporary failures the catalogue says that Baton tries again. That is not true for a tool call of an agent. */
function nextStepOf({ code, retryable, nextStep }: BatonError): string {
  const isForPeople = isCatalogued(code) && nextStep === errorCatalogue[code].nextStep;
  return isForPeople && retryable && /^(?:tracker|request|store)_/.test(code) ? laterStep : nextStep;
}

const laterStep = 'Continue with other work, and call the tool again later: Baton does not repeat the call.';

export function unknownTool(name: string, supportedTools: readonly string[]): ToolAnswer {
  const shown = name.length > longestShownName ? `${name.slice(0, longestShownName)}…` : name;
  return failureAnswer(new BatonError('unsupported_tool_call', unsupportedToolText(shown)), { supportedTools });
}

const longestShownName = 200;

export function claimLost(): ToolAnswer {
  return failureAnswer(
    new BatonError('claim_lost', 'Another daemon may have this issue now; nothing was done.', {
      nextStep: 'Stop working: this run is about to end.',
    }),
  );
}

export function withdrawn(name: string): ToolAnswer {
  return failureAnswer(
    new BatonError('run_cancelled', `The call of ${name} was cancelled.`, {
      nextStep: 'Nothing: the caller cancelled the call, or the run has ended.',
    }),
  );
}

export function tookTooLong(name: string, limitMs: number, changesTracker: boolean): ToolAnswer {
  const doubt = changesTracker ? ' It is not known whether the change was made.' : '';
  return failureAnswer(
    new BatonError('tracker_request', `The tracker did not answer ${name} within ${limitMs / 1_000} seconds.${doubt}`, {
      nextStep: changesTracker
        ? 'Check with get_issue whether the change was made before you call the tool again.'
        : laterStep,
    }),
  );
}
