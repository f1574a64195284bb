import { isInOneOf, normalizeLabels, normalizeState } from '../../core/issue/issue.ts';
import type { StateRole } from '../../core/issue/state-role.ts';
import type { Problem } from '../../core/problem.ts';
import type { TrackerSettings } from '../../core/settings.ts';
import type { TrackerProfile } from '../../core/tracker-profile.ts';
import type { FrontMatter } from '../parse-front-matter.ts';
import type { PlainSettings } from '../table/setting-table.ts';
import type { Place } from '../workflow-context.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';
import { providerOf, type ResolvedKey, resolveProviderKey, secretVariables } from './resolve-provider-key.ts';

interface ResolvedTracker {
  readonly settings: TrackerSettings;
  /** Where each provider key comes from, by its dotted name. */
  readonly origins: ReadonlyMap<string, string>;
}

/** The profile that the file names; null, and reported, when the file names none or an unknown one. */
export function findTracker(
  kind: string | null,
  profiles: readonly TrackerProfile[],
  report: Report,
): TrackerProfile | null {
  const key = 'tracker.kind';
  const allowed = profiles.map((profile) => profile.kind);
  if (kind === null || kind.trim() === '') {
    const message = `${key} is missing; allowed: ${allowed.join(', ')}`;
    report(errorAt(key, message, { code: 'missing_tracker_kind', allowed }));
    return null;
  }
  const profile = profiles.find((candidate) => candidate.kind === kind);
  if (profile === undefined) {
    const message = `${key} is ${JSON.stringify(kind)}; allowed: ${allowed.join(', ')}`;
    report(errorAt(key, message, { code: 'unsupported_tracker_kind', allowed }));
  }
  return profile ?? null;
}

/** Resolves the `tracker` section with the profile of its kind: states, labels, and the provider's keys. */
export function resolveTracker(
  profile: TrackerProfile,
  section: FrontMatter,
  plain: PlainSettings,
  place: Place,
  report: Report,
): ResolvedTracker {
  const { tracker } = plain;
  const resolved = new Map<string, ResolvedKey>(
    profile.keys.map((key) => [key.name, resolveProviderKey(key, section, place, report)]),
  );
  // Unknown keys stay, so that an adapter newer than its profile, or a person's own note, loses nothing.
  const provider = Object.fromEntries([
    ...Object.entries(providerOf(section)),
    ...[...resolved].map(([name, { value }]) => [name, value] as const),
  ]);
  checkProvider(profile, resolved, provider, report);
  checkStates(profile, tracker, report);
  const activeStates = tracker.activeStates ?? defaultStates(profile, 'active', section, report);
  checkStartState(profile, activeStates, report);
  const terminalStates = tracker.terminalStates ?? defaultStates(profile, 'terminal', section, report);
  const states = profile.roleStates ?? tracker.states;
  const reviewStates =
    tracker.reviewStates ?? (states.review === null ? (profile.defaultReviewStates ?? []) : [states.review]);
  checkReviewStates(reviewStates, section, plain, report);
  if (tracker.reviewStates !== null || tracker.states.review !== null)
    checkApart(reviewStates, [...activeStates, ...terminalStates], report);
  checkRoleStates(profile, tracker.states, { activeStates, reviewStates, terminalStates }, report);
  if (plain.board.autoPromote && profile.hasBacklog !== true) {
    const message = `board.auto_promote has no effect: trackers of the kind ${profile.kind} have no backlog of Baton's own`;
    report(warningAt('board.auto_promote', message, { problem: 'no_effect' }));
  }
  checkScanner(profile, plain, report);
  return {
    settings: {
      ...tracker,
      kind: profile.kind,
      activeStates,
      terminalStates,
      reviewStates,
      states,
      trustedAuthors: readAuthors(profile, tracker.trustedAuthors),
      requiredLabels: readLabels(tracker.requiredLabels),
      provider,
      secretEnvironment: [...new Set(profile.keys.flatMap((key) => secretVariables(key, section)))],
    },
    origins: new Map([...resolved].map(([name, { origin }]) => [`tracker.provider.${name}`, origin])),
  };
}

/** Reports a wrong type only where the profile itself has no better message. */
function checkProvider(
  profile: TrackerProfile,
  resolved: ReadonlyMap<string, ResolvedKey>,
  provider: TrackerSettings['provider'],
  report: Report,
): void {
  const problems = profile.check(provider);
  for (const problem of problems) report(withLack(problem, resolved));
  const reported = new Set(problems.map((problem) => problem.key));
  for (const { name, type } of profile.keys) {
    const key = `tracker.provider.${name}`;
    if (resolved.get(name)?.ofItsType !== false || reported.has(key)) continue;
    const allowed = type === 'boolean' ? 'true or false' : type === 'path' ? 'a path' : 'text';
    const facts = { code: 'invalid_tracker_config', problem: 'wrong_value', expected: type } as const;
    report(errorAt(key, `${key} must be ${allowed}`, facts));
  }
}

/** A state that the tracker does not have would silently match nothing. */
function checkStates(
  { kind, knownStates }: TrackerProfile,
  { activeStates, terminalStates, reviewStates }: PlainSettings['tracker'],
  report: Report,
): void {
  if (knownStates === undefined) return;
  const known = new Set(knownStates.map(normalizeState));
  const written = {
    'tracker.active_states': activeStates,
    'tracker.terminal_states': terminalStates,
    'tracker.review_states': reviewStates,
  };
  for (const [key, states] of Object.entries(written)) {
    for (const state of (states ?? []).filter((name) => !known.has(normalizeState(name)))) {
      const message = `${key} names ${JSON.stringify(state)}; trackers of the kind ${kind} have: ${knownStates.join(', ')}`;
      const facts = { code: 'invalid_tracker_config', problem: 'unknown_state', state, allowed: knownStates } as const;
      report(errorAt(key, message, facts));
    }
  }
}

/** A state that is both review and active or terminal would hold everything back forever. */
function checkApart(review: readonly string[], others: readonly string[], report: Report): void {
  const taken = new Set(others.map(normalizeState));
  const key = 'tracker.review_states';
  for (const state of review.filter((name) => taken.has(normalizeState(name)) || name.trim() === '')) {
    const message = `${key} names ${JSON.stringify(state)}, but a review state must be neither active nor terminal`;
    report(errorAt(key, message, { code: 'invalid_tracker_config', problem: 'state_taken', state }));
  }
}

/**
 * Baton must not move an issue to a state that means something else: an unblocked issue has to be active, a blocked one
 * neither active nor finished.
 */
function checkRoleStates(
  { kind, roleStates }: TrackerProfile,
  written: PlainSettings['tracker']['states'],
  lists: Pick<TrackerSettings, 'activeStates' | 'reviewStates' | 'terminalStates'>,
  report: Report,
): void {
  const isIn = (list: readonly string[], state: string): boolean => isInOneOf(list)({ state });
  const rules: Record<StateRole, { readonly means: string; readonly fits: (state: string) => boolean }> = {
    todo: { means: 'one of tracker.active_states', fits: (state) => isIn(lists.activeStates, state) },
    inProgress: { means: 'one of tracker.active_states', fits: (state) => isIn(lists.activeStates, state) },
    review: { means: 'one of tracker.review_states', fits: (state) => isIn(lists.reviewStates, state) },
    blocked: {
      means: 'neither active, nor review, nor terminal',
      fits: (state) => !isIn([...lists.activeStates, ...lists.reviewStates, ...lists.terminalStates], state),
    },
    done: { means: 'one of tracker.terminal_states', fits: (state) => isIn(lists.terminalStates, state) },
  };
  for (const [role, { means, fits }] of Object.entries(rules) as [StateRole, (typeof rules)[StateRole]][]) {
    const state = written[role];
    if (state === null) continue;
    const key = `tracker.states.${role === 'inProgress' ? 'in_progress' : role}`;
    const own = roleStates?.[role] ?? null;
    if (own !== null && normalizeState(own) !== normalizeState(state)) {
      const message = `${key} is ${JSON.stringify(state)}, but trackers of the kind ${kind} always use ${own}`;
      report(
        errorAt(key, message, { code: 'invalid_tracker_config', problem: 'unknown_state', state, allowed: [own] }),
      );
    } else if (!fits(state)) {
      const message = `${key} is ${JSON.stringify(state)}, which must be ${means}`;
      report(errorAt(key, message, { code: 'invalid_tracker_config', problem: 'state_taken', state }));
    }
  }
}

/** Otherwise every run would stop as soon as it has begun. */
function checkStartState({ kind, startState }: TrackerProfile, active: readonly string[], report: Report): void {
  if (startState === undefined || active.some((name) => normalizeState(name) === startState)) return;
  const key = 'tracker.active_states';
  const message = `${key} must contain ${startState}: trackers of the kind ${kind} move an issue there when a run starts`;
  report(errorAt(key, message, { code: 'invalid_tracker_config', problem: 'no_start_state', state: startState }));
}

/** A limit on issues in review has no effect where no state counts as review. */
function checkReviewStates(
  states: readonly string[],
  section: FrontMatter,
  { agent: { maxInReview: most }, tracker }: PlainSettings,
  report: Report,
): void {
  const key = 'tracker.review_states';
  // A present but invalid value was already reported.
  const isBad = tracker.reviewStates === null && Object.hasOwn(section, 'review_states');
  if (most === 0 || states.length > 0 || isBad) return;
  const message = `${key} is empty, so agent.max_in_review: ${most} counts nothing; list the review states, such as [In Review]`;
  const facts = { code: 'invalid_tracker_config', problem: 'nothing_counted', other: 'agent.max_in_review' } as const;
  report(errorAt(key, message, facts));
}

function withLack(problem: Problem, resolved: ReadonlyMap<string, ResolvedKey>): Problem {
  const lack = resolved.get(problem.key?.replace('tracker.provider.', '') ?? '')?.lack ?? null;
  if (lack === null) return problem;
  const names = lack.variables.map((name) => `$${name}`).join(' and ') || 'it';
  const note = lack.problem === 'blank' ? `${names} is blank` : `${names} is not set`;
  return { ...problem, message: `${problem.message} (${note})`, details: { ...problem.details, ...lack } };
}

function defaultStates(
  profile: TrackerProfile,
  which: 'active' | 'terminal',
  section: FrontMatter,
  report: Report,
): readonly string[] {
  const states = which === 'active' ? profile.defaultActiveStates : profile.defaultTerminalStates;
  if (states !== null) return states;
  const name = `${which}_states`;
  const key = `tracker.${name}`;
  // A present but invalid value was already reported.
  if (!Object.hasOwn(section, name)) {
    const message = `${key} is missing: trackers of the kind ${profile.kind} have no default states`;
    report(errorAt(key, message, { code: 'invalid_tracker_config', problem: 'missing' }));
  }
  return [];
}

/**
 * Blank labels stay as one blank, because a blank label must match no issue rather than every issue (specification
 * 5.3.1).
 */
function readLabels(labels: readonly string[]): string[] {
  const hasBlank = labels.some((label) => label.trim() === '');
  return hasBlank ? [...normalizeLabels(labels), ''] : normalizeLabels(labels);
}

/** People on this machine are always trusted: they could edit the file. */
function readAuthors({ trustedAuthors = [] }: TrackerProfile, written: readonly string[]): string[] {
  return [...new Set([...trustedAuthors, ...written.map((name) => name.trim())])];
}

/** The scanner and the learner fail closed, so a file must not switch it on in vain. */
function checkScanner({ kind, hasBacklog }: TrackerProfile, { scanner, learner }: PlainSettings, report: Report): void {
  if (learner.enabled && learner.runsPerDay === 0 && learner.usdPerDay === 0)
    report(
      warningAt(
        'learner.enabled',
        'learner.enabled has no effect: without learner.runs_per_day or learner.usd_per_day no agent looks for learnings',
        { problem: 'no_effect' },
      ),
    );
  if (!scanner.enabled) return;
  const warn = (message: string): void => report(warningAt('scanner.enabled', message, { problem: 'no_effect' }));
  if (scanner.runsPerDay === 0 && scanner.usdPerDay === 0)
    warn('scanner.enabled has no effect: without scanner.runs_per_day or scanner.usd_per_day there is no scan');
  else if (hasBacklog !== true)
    warn(
      `no scan begins by itself: trackers of the kind ${kind} have no backlog that Baton can count; \`baton scan now\` works`,
    );
}
