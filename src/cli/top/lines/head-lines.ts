import { countText, usdText } from '../../../core/text/amount-text.ts';
import type { AccountRow, Now } from '../../../server/api/schema/now.ts';
import type { TopState } from '../top-state.ts';
import { cellText, reasonText } from './cell-text.ts';
import { type Cell, cell, exactly, type Line, leftAndRight, lineWidth } from './line.ts';
import { tokensText } from './row-cells.ts';
import { countdown, shortDuration } from './short-duration.ts';

/** What is over the lists. */
export interface HeadFacts {
  readonly nows: readonly Now[];
  readonly address: string | null;
  readonly tokensPerSecond: number;
  /** Null while the daemon answers. */
  readonly gone: TopState['gone'];
  /** Whether it ever answered. */
  readonly isKnown: boolean;
}

const dot = cell(' · ', 'dim');

/** Below this the amounts take one line more. */
const narrowColumns = 60;

/** Who and how well, then how much, then what is wrong: at most `most` lines. */
export function headLines(facts: HeadFacts, at: number, columns: number, most: number): readonly Line[] {
  const projects = facts.nows.map(({ project }) => cell(cellText(project)));
  const address = facts.address === null ? [] : [cell(cellText(facts.address), 'dim')];
  const left = joined([cell(' Baton', 'strong'), ...projects]);
  const right: Line = [...joined([health(facts), ...nextLook(facts, at)]), cell(' ')];
  const withAddress = leftAndRight(joined([cell(' Baton', 'strong'), ...projects, ...address]), right, columns);
  const first = lineWidth(withAddress) === columns ? withAddress : leftAndRight(left, right, columns);
  // Where it does not fit beside the rest it stands among the amounts, which go on in a second line.
  const rest = first === withAddress ? [] : address;
  const amounts = [...(facts.isKnown ? amountsOf(facts) : []), ...rest];
  // Without room for both, how well it is counts for more than what it is called.
  const top = lineWidth(first) === columns ? first : [cell(' '), ...right];
  const lines = [top, ...flowed(amounts, columns, columns < narrowColumns ? 3 : 2), ...notices(facts, at)];
  return lines.slice(0, Math.max(0, most)).map((line) => exactly(line, columns));
}

function joined(cells: readonly Cell[]): Line {
  return cells.flatMap((each, at) => (at === 0 ? [each] : [dot, each]));
}

/** As many as fit into so many lines; those at the end are left out first. */
function flowed(cells: readonly Cell[], columns: number, mostLines: number): readonly Line[] {
  const lines: Cell[][] = [];
  for (const each of cells) {
    const last = lines.at(-1);
    if (last !== undefined && lineWidth([...last, dot, each]) < columns) last.push(dot, each);
    else if (lines.length < mostLines) lines.push([cell(' '), each]);
    else break;
  }
  return lines;
}

function health({ nows, gone, isKnown }: HeadFacts): Cell {
  if (gone !== null) return cell(gone.isRefusal ? '○ refused' : '○ no answer', 'bad');
  if (!isKnown) return cell('○ asking', 'dim');
  const problems = nows.reduce((sum, { vitals }) => sum + vitals.problems.length, 0);
  if (problems > 0) return cell(problems === 1 ? '● 1 problem' : `● ${problems} problems`, 'bad');
  const paused = nows.find(({ vitals }) => vitals.paused !== null)?.vitals.paused;
  if (paused) return cell(paused.kind === 'pause' ? '● paused' : '● draining', 'warn');
  return cell('● well', 'good');
}

/** When the tracker is looked at next: of several projects the first of them. */
function nextLook({ nows, gone }: HeadFacts, at: number): readonly Cell[] {
  if (gone !== null || nows.length === 0) return [];
  if (nows.some(({ vitals }) => vitals.polling.is_polling)) return [cell('checking now…')];
  const times = nows.flatMap(({ vitals }) => vitals.polling.next_poll_at ?? []).map((time) => Date.parse(time) - at);
  if (times.length === 0) return [cell('no look planned', 'dim')];
  return [cell(`next look ${countdown(Math.min(...times))}`)];
}

function amountsOf({ nows, tokensPerSecond }: HeadFacts): readonly Cell[] {
  const sum = (of: (now: Now) => number): number => nows.reduce((total, now) => total + of(now), 0);
  const runs = sum(({ running }) => running.length);
  const used = sum(({ vitals }) => vitals.slots.used);
  const limit = sum(({ vitals }) => vitals.slots.limit);
  return [
    cell(`slots ${used}/${limit}`),
    cell(runs === 1 ? '1 run' : `${runs} runs`),
    cell(`${tokensText(sum(({ vitals }) => vitals.today.tokens))} tokens today${limitText(nows, 'tokens')}`),
    cell(`${cents(sum(({ vitals }) => vitals.today.cost_usd))}${limitText(nows, 'cost')}`),
    cell(`${countText(Math.floor(tokensPerSecond))} tokens/s`, tokensPerSecond >= 1 ? 'plain' : 'dim'),
  ];
}

/** Limits are those of a project; over several there is none. */
function limitText(nows: readonly Now[], of: 'tokens' | 'cost'): string {
  const today = nows.length === 1 ? nows[0]?.vitals.today : undefined;
  const tokens = today?.token_limit ?? null;
  const cost = today?.cost_limit_usd ?? null;
  if (of === 'tokens') return tokens === null ? '' : ` of ${tokensText(tokens)}`;
  return cost === null ? '' : ` of ${usdText(cost)}`;
}

/** Cut, not rounded: it never says that a limit is reached when it is not. */
function cents(usd: number): string {
  return usdText(Math.floor(usd * 100 + 1e-6) / 100);
}

function notices({ nows, gone }: HeadFacts, at: number): readonly Line[] {
  const name = (project: string): string => (nows.length > 1 ? `${cellText(project)}: ` : '');
  const told = nows.flatMap(({ project, vitals, accounts }) => [
    ...vitals.problems.map(({ text }) => notice(`${name(project)}${reasonText(text)}`, 'bad')),
    ...pauseNotice(vitals.paused, name(project), at),
    ...budgetNotice(vitals.budget, name(project)),
    ...accounts.flatMap((account) => accountNotice(account, at)),
  ]);
  return [...goneNotice(gone, at), ...told];
}

function notice(text: string, tone: Cell['tone']): Line {
  return [cell(' ! ', tone), cell(text, tone)];
}

function goneNotice(gone: HeadFacts['gone'], at: number): readonly Line[] {
  if (gone === null) return [];
  const since = `${new Date(gone.since).toISOString().slice(11, 19)}Z (${shortDuration(at - gone.since)})`;
  if (gone.isRefusal) return [notice(`The daemon refuses to tell. ${cellText(gone.text)}`, 'bad')];
  return [notice(`The daemon does not answer since ${since}; it is asked again. ${cellText(gone.text)}`, 'bad')];
}

function pauseNotice(paused: Now['vitals']['paused'], project: string, at: number): readonly Line[] {
  if (paused === null) return [];
  const since = paused.since === null ? '' : ` for ${shortDuration(at - Date.parse(paused.since))}`;
  const why = paused.reason === null ? '' : `: ${reasonText(paused.reason)}`;
  const what = paused.kind === 'pause' ? `paused${since}` : `draining${since}, ends with the last run`;
  return [notice(`${project}${what}${why}`, 'warn')];
}

function budgetNotice({ step, text }: Now['vitals']['budget'], project: string): readonly Line[] {
  return step === 'free' || text === '' ? [] : [notice(`${project}requests: ${reasonText(text)}`, 'warn')];
}

function accountNotice({ name, parked_until: until, waits_for: why }: AccountRow, at: number): readonly Line[] {
  if (why === null) return [];
  const left = until === null ? '' : ` (${countdown(Date.parse(until) - at)} left)`;
  return [notice(`account ${cellText(name)}: ${reasonText(why)}${left}`, 'warn')];
}
