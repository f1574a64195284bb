import type { IssueDetail } from '../../../client/schema/issue.ts';
import type { RunningRow } from '../../../client/schema/now.ts';
import type { Question } from '../../../client/schema/question.ts';
import type { RunEvent } from '../../../client/schema/run.ts';
import { shortWords } from '../../../core/command/person-words.ts';
import { countText, hasNoPrice, noPriceText, usdText } from '../../../core/text/amount-text.ts';
import { cellText, padded, reasonText, wholeLines, wrapped } from '../../cell-text.ts';
import type { TopState } from '../top-state.ts';
import { cell, exactly, type Line, type Tone } from './line.ts';
import { ageOf, needsYouText, stageText } from './short-text.ts';
import type { TopRow } from './top-rows.ts';

/** The most lines of one text, except what a person approves; the dashboard has the whole text. */
const mostLines = 12;
const mostEvents = 50;

/** Why an issue is where it is, its question, and its last messages, newest first. */
export function detailsLines(
  row: TopRow,
  { details: known, here }: Pick<TopState, 'details' | 'here'>,
  at: number,
  columns: number,
): readonly Line[] {
  const details = known !== null && known.issueId === row.issueId && known.project === row.project ? known : null;
  const issue = details?.issue ?? null;
  const problem = details === null ? 'Reading…' : details.problem;
  const lines = [
    [cell(' '), cell(row.identifier, 'strong'), cell(`  ${cellText(row.of.title ?? issue?.title ?? '')}`)],
    ...facts(row, at, columns),
    ...section('Why', withoutRepeats(whyOf(row, issue, here)), columns),
    ...(issue?.questions ?? []).filter(({ state }) => state === 'open').flatMap((each) => questionOf(each, columns)),
    ...(problem === null ? [] : section('', [{ text: problem, tone: 'dim' }], columns)),
    ...messagesOf(details?.events ?? [], row, columns),
  ];
  return lines.map((line) => exactly(line, columns));
}

/** Texts that are made harmless when they become lines. */
interface Words {
  readonly text: string;
  readonly tone?: Tone;
}

function section(title: string, words: readonly Words[], columns: number): readonly Line[] {
  if (words.length === 0) return [];
  const name: readonly Line[] = title === '' ? [[]] : [[], [cell(` ${title}`, 'strong')]];
  return [...name, ...words.flatMap((each) => indented(each, columns))];
}

function indented({ text, tone }: Words, columns: number): readonly Line[] {
  return wrapped(cellText(text), columns - 4, mostLines).map((line) => [cell('   '), cell(line, tone)]);
}

function facts(row: TopRow, at: number, columns: number): readonly Line[] {
  const { issue_url: url } = row.of;
  const lines = row.list === 'running' ? wrapped(runFacts(row.of, at).join(' · '), columns - 2, 3) : [];
  return [...(url === null ? [] : [cellText(url)]), ...lines].map((line) => [cell(' '), cell(line, 'dim')]);
}

function runFacts(run: RunningRow, at: number): string[] {
  const { total_tokens: tokens, cost_usd: cost } = run.usage;
  return [
    stageText(run.stage),
    ...(run.attempt === null || run.attempt === 0 ? [] : [`retry ${run.attempt}`]),
    `turn ${run.turn}`,
    `${ageOf(run.started_at, at) ?? 'not yet'} old`,
    `${countText(tokens)} tokens`,
    hasNoPrice(tokens, cost) ? noPriceText : usdText(cost),
    ...(run.account === null ? [] : [`account ${cellText(run.account)}`]),
    ...(run.pid === null ? [] : [`pid ${run.pid}`]),
    ...(run.session_id === null ? [] : [`session ${cellText(run.session_id)}`]),
    ...(run.workspace_path === null ? [] : [cellText(run.workspace_path)]),
  ];
}

/** A text that another one contains is left out. */
function withoutRepeats(all: readonly Words[]): readonly Words[] {
  return all.filter(({ text }, at) => {
    const bare = text.replace(/^× /, '');
    return !all.some(
      (other, index) => index !== at && other.text.includes(bare) && (other.text !== text || index < at),
    );
  });
}

function whyOf(row: TopRow, issue: IssueDetail | null, here: TopState['here']): readonly Words[] {
  const found: Words[] = [];
  if (row.list === 'waiting') found.push({ text: here(reasonText(row.of.reason)) });
  if (row.list === 'needs_you') found.push({ text: here(needsYouText(row.of)) });
  if (row.list === 'needs_you' && row.of.actions.length > 0)
    found.push({ text: `what can be done: ${row.of.actions.map(actionWord).join(', ')}`, tone: 'dim' });
  if (row.list === 'running') found.push(...row.of.warnings.map(({ text }) => ({ text, tone: 'warn' as const })));
  const explanation = issue?.explanation ?? null;
  if (explanation !== null) {
    // That it runs already is no obstacle.
    const gates = row.list === 'running' ? [] : explanation.gates;
    found.push(...gates.filter(({ passed }) => !passed).map(({ text }) => ({ text: `× ${here(reasonText(text))}` })));
    found.push({ text: here(reasonText(explanation.next)) });
  } else if (issue?.why_unknown) found.push({ text: reasonText(issue.why_unknown), tone: 'dim' });
  for (const { body, status } of issue?.messages ?? [])
    if (status === 'waiting') found.push({ text: `for the next agent: ${shortWords(body)}` });
  return found;
}

function actionWord(action: string): string {
  return cellText(action)
    .replace(/^issue_|^question_/, '')
    .replaceAll('_', ' ');
}

function questionOf({ text, detail, fields }: Question, columns: number): readonly Line[] {
  const all = detail === '' ? [] : wholeLines(detail, columns - 4);
  return [
    ...section('Question', [{ text, tone: 'you' }], columns),
    ...all.map((line) => [cell('   '), cell(line)]),
    ...fields.flatMap(({ name, label, options, allows_other, is_secret }) => [
      [cell('   '), cell(cellText(label) || cellText(name), 'strong'), cell(is_secret ? ' (a secret)' : '', 'dim')],
      ...options.map((option, at) => [cell(`     ${at + 1}  `, 'dim'), cell(cellText(option))]),
      ...(options.length > 0 && allows_other ? [[cell('     or any other text', 'dim')]] : []),
    ]),
    [cell(fields.length === 0 ? '   a answers: yes, always or no' : '   a answers', 'dim')],
  ];
}

function messagesOf(events: readonly RunEvent[], row: TopRow, columns: number): readonly Line[] {
  const last = row.list === 'running' ? row.of.last_message : null;
  const shown = events.slice(-mostEvents).toReversed();
  if (shown.length === 0) return last === null ? [] : section('Last message', [{ text: last }], columns);
  const lines = shown.map(({ at, event, message }) => [
    cell(`   ${at.slice(11, 19)}  `, 'dim'),
    ...(columns < 80 ? [] : [cell(`${padded(cellText(event).replaceAll('_', ' '), 20)}  `, 'dim')]),
    cell(event === 'stage_changed' ? stageText(message) : cellText(message)),
  ]);
  return [[], [cell(' Last messages', 'strong')], ...lines];
}
