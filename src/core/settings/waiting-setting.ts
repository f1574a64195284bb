import type { WaitingSetting } from '../workflow.ts';

/** Enough to recognise an address or a command. */
const longestValue = 200;

/** `hooks.before_run: null → "make setup"`, for people. */
export function waitingSettingText({ key, before, after }: WaitingSetting): string {
  return `${key}: ${valueText(before)} → ${valueText(after)}`;
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length <= longestValue ? text : `${text.slice(0, longestValue).toWellFormed()}…`;
}
