import type { NeedsYou } from '../../../client/schema/now.ts';
import { reviewCommand } from '../../../core/command/retry-command.ts';
import { stageWords } from '../../../core/run/run.ts';
import { countText } from '../../../core/text/amount-text.ts';
import { cellText, reasonText } from '../../cell-text.ts';

/** A duration for a narrow column: `2s`, `20m 25s`, `3h 5m`, `2d 4h`. Never below `0s`. */
export function shortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m ${seconds % 60}s`;
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** The time left, rounded up, so that it never reaches zero too early. */
export function countdown(ms: number): string {
  return shortDuration(Math.ceil(ms / 1_000) * 1_000);
}

/** The time since then; null when it is unknown. */
export function ageOf(time: string | null, at: number): string | null {
  return time === null ? null : shortDuration(at - Date.parse(time));
}

/** In UTC. */
export function timeOfDay(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

/** Larger numbers are shown in millions. */
const mostCounted = 100_000_000;

export function tokensText(tokens: number): string {
  return tokens < mostCounted ? countText(tokens) : `${countText(Math.floor(tokens / 1_000_000))}M`;
}

export function stageText(stage: string): string {
  return stageWords(cellText(stage));
}

/** Why a row needs a person. A change has the command to review it first, because the end of a line may be cut off. */
export function needsYouText({ kind, reason, pull, issue_identifier: issue }: NeedsYou): string {
  if (kind === 'question') return cellText(reason);
  const why = reasonText(reason);
  return pull === undefined || issue === null ? why : `${cellText(reviewCommand(issue))}: ${why}`;
}
