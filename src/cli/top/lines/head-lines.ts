import type { Now } from '../../../client/schema/now.ts';
import { type SlotView, slotsText } from '../../../core/dispatch/slots.ts';
import { countText, hasNoPrice, noPriceText, usdText } from '../../../core/text/amount-text.ts';
import { cellText, reasonText } from '../../cell-text.ts';
import type { TopState } from '../top-state.ts';
import { type Cell, cell, exactly, type Line, leftAndRight, lineWidth, type Tone } from './line.ts';
import { countdown, shortDuration, timeOfDay, tokensText } from './short-text.ts';

const dot = cell(' · ', 'dim');

/** Below this width the amounts take one more line. */
const narrowColumns = 60;

/** The name and the health, then the amounts, then the problems: at most `most` lines. */
export function headLines(state: TopState, at: number, columns: number, most: number): readonly Line[] {
  const name = [cell(' Baton', 'strong'), ...state.nows.map(({ project }) => cell(cellText(project)))];
  const address = state.address === null ? [] : [cell(cellText(state.address), 'dim')];
  const right: Line = [...joined([health(state), ...nextPoll(state, at)]), cell(' ')];
  const fits = (line: Line): boolean => lineWidth(line) === columns;
  const withAddress = leftAndRight(joined([...name, ...address]), right, columns);
  const withoutAddress = leftAndRight(joined(name), right, columns);
  // An address that does not fit into the first line follows the amounts, which then continue on a second line.
  const amounts = [...(state.answeredAt === null ? [] : amountsOf(state)), ...(fits(withAddress) ? [] : address)];
  // Without space for both, the health is more important than the name.
  const top = [withAddress, withoutAddress].find(fits) ?? [cell(' '), ...right];
  const lines = [top, ...flowed(amounts, columns, columns < narrowColumns ? 3 : 2), ...notices(state, at)];
  return lines.slice(0, Math.max(0, most)).map((line) => exactly(line, columns));
}

function joined(cells: readonly Cell[]): Line {
  return cells.flatMap((each, at) => (at === 0 ? [each] : [dot, each]));
}

/** As many cells as fit into this many lines; the last ones are left out first. */
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

function health({ nows, gone, answeredAt }: TopState): Cell {
  if (gone !== null) return cell('○ no answer', 'bad');
  if (answeredAt === null) return cell('○ asking', 'dim');
  const problems = nows.reduce((sum, { vitals }) => sum + vitals.problems.length, 0);
  if (problems > 0) return cell(problems === 1 ? '● 1 problem' : `● ${problems} problems`, 'bad');
  const paused = nows.find(({ vitals }) => vitals.paused !== null)?.vitals.paused;
  if (paused) return cell(paused.kind === 'pause' ? '● paused' : '● draining', 'warn');
  return cell('● well', 'good');
}

/** The next poll of the tracker: with several projects, the earliest. */
function nextPoll({ nows, gone }: TopState, at: number): readonly Cell[] {
  if (gone !== null || nows.length === 0) return [];
  if (nows.some(({ vitals }) => vitals.polling.is_polling)) return [cell('checking now…')];
  const times = nows.flatMap(({ vitals }) => vitals.polling.next_poll_at ?? []).map((time) => Date.parse(time) - at);
  if (times.length === 0) return [cell('no poll planned', 'dim')];
  return [cell(`next poll ${countdown(Math.min(...times))}`)];
}

function amountsOf({ nows, tokensPerSecond }: TopState): readonly Cell[] {
  const sum = (of: (now: Now) => number): number => nows.reduce((total, now) => total + of(now), 0);
  const runs = sum(({ running }) => running.length);
  const slots = sumOfSlots(nows.map(({ vitals }) => vitals.slots));
  const tokens = sum(({ vitals }) => vitals.today.tokens);
  const usd = sum(({ vitals }) => vitals.today.cost_usd);
  // A limit belongs to one project; several projects have none in common.
  const today = nows.length === 1 ? nows[0]?.vitals.today : undefined;
  const of = (most: number | null | undefined, text: (amount: number) => string): string =>
    typeof most === 'number' ? ` of ${text(most)}` : '';
  return [
    cell(`slots ${slotsText(slots).replace(' of ', '/')}`),
    cell(`${runs} running`),
    cell(`${tokensText(tokens)} tokens today${of(today?.token_limit, tokensText)}`),
    cell(hasNoPrice(tokens, usd) ? noPriceText : `${cents(usd)}${of(today?.cost_limit_usd, usdText)}`),
    ...nows
      .flatMap(({ vitals }) => vitals.today.roles ?? [])
      .filter(({ used_up }) => used_up)
      .map(({ role }) => cell(`budget of ${cellText(role)} used up`)),
    cell(`${countText(Math.floor(tokensPerSecond))} tokens/s`, tokensPerSecond >= 1 ? 'plain' : 'dim'),
  ];
}

/** Of several projects together. */
function sumOfSlots(slots: readonly Now['vitals']['slots'][]): SlotView {
  const sum = (of: (each: Now['vitals']['slots']) => number): number =>
    slots.reduce((total, each) => total + of(each), 0);
  const judges = { used: sum((each) => each.judges?.used ?? 0), limit: sum((each) => each.judges?.limit ?? 0) };
  return { used: sum(({ used }) => used), limit: sum(({ limit }) => limit), judges };
}

/** Rounded down, so that it never shows a limit as reached too early. */
function cents(usd: number): string {
  return usdText(Math.floor(usd * 100 + 1e-6) / 100);
}

type Notice = readonly [text: string, tone: Tone];

/** What is wrong, paused or short, one line each. */
function notices({ nows, gone }: TopState, at: number): readonly Line[] {
  const all: Notice[] = nows.flatMap((now) =>
    projectNotices(now, nows.length > 1 ? `${cellText(now.project)}: ` : '', at),
  );
  if (gone !== null) {
    const since = `${timeOfDay(gone.since)}Z (${shortDuration(at - gone.since)})`;
    all.unshift([`The daemon has not answered since ${since}. Baton asks again. ${cellText(gone.text)}`, 'bad']);
  }
  return all.map(([text, tone]) => [cell(' ! ', tone), cell(text, tone)]);
}

function projectNotices({ vitals: { problems, paused, budget }, accounts }: Now, name: string, at: number): Notice[] {
  const found: Notice[] = problems.map(({ text }) => [`${name}${reasonText(text)}`, 'bad']);
  if (paused !== null) {
    const since = paused.since === null ? '' : ` for ${shortDuration(at - Date.parse(paused.since))}`;
    const why = paused.reason === null ? '' : `: ${reasonText(paused.reason)}`;
    const what = paused.kind === 'pause' ? `paused${since}` : `draining${since}, ends with the last run`;
    found.push([`${name}${what}${why}`, 'warn']);
  }
  if (budget.step !== 'free' && budget.text !== '') found.push([`${name}requests: ${reasonText(budget.text)}`, 'warn']);
  for (const { name: account, unavailable_until: until, waits_for: why } of accounts) {
    const left = until === null ? '' : ` (${countdown(Date.parse(until) - at)} left)`;
    if (why !== null) found.push([`account ${cellText(account)}: ${reasonText(why)}${left}`, 'warn']);
  }
  return found;
}
