import type { Found } from '../../../src/client/schema/system.ts';
import { offeredScreens } from '../../screens/index.ts';
import { agentsOf, finished, hasSeveralProjects, needsYou, projects, running, waiting } from '../connection/live.ts';
import { sendAndNotify } from '../connection/send-and-notify.ts';
import { runningActions, waitingActions } from '../issue/issue-rows.ts';
import { actionsNamed, projectActionsNamed } from '../text/command-words.ts';
import { createMatches, type Matches, type PaletteItem } from './palette-matches.ts';
import { eventHref, go, issueHref, linkTo, place } from './router.ts';
import { nextTheme } from './theme.ts';

/** A live row, and the actions that its issue allows there. */
interface Offer {
  readonly project: string;
  readonly row: Named;
  readonly what: string;
  readonly names: readonly string[];
  /** The run that the action applies to. */
  readonly run?: string;
}

interface Named {
  readonly issue_id: string | null;
  readonly issue_identifier: string | null;
  readonly title: string | null;
  readonly revision?: string | undefined;
}

/** Lists may be long; the visible part of the palette is short. */
const mostIssues = 25;
const mostActions = 25;

/**
 * Items that need no request to the daemon and contain every typed word. `boards` are the projects whose issues can be
 * filed, moved and edited here.
 */
export function itemsFor(typed: string, boards: ReadonlySet<string>): readonly PaletteItem[] {
  const words = typed.toLowerCase().split(/\s+/u).filter(Boolean);
  const named = createMatches(words);
  const issues = createMatches(words, mostIssues);
  const actions = createMatches(words, mostActions);
  for (const item of screenItems()) named.add(item);
  for (const item of projectItems(boards)) actions.add(item);
  for (const offer of allOffers()) {
    addIssue(issues, offer);
    // Actions on issues are many; they come when something is typed.
    if (words.length > 0) addActions(actions, offer, boards);
    else if (issues.isFull()) break;
  }
  return [...named.items(), ...issues.items(), ...actions.items(), ...searchItems(typed.trim())];
}

function* allOffers(): Generator<Offer> {
  for (const { project, row } of needsYou.value) {
    const run = row.kind === 'question' && row.run_id !== null ? { run: row.run_id } : {};
    yield { project, row, what: 'needs you', names: row.actions, ...run };
  }
  for (const { project, row } of running.value)
    yield { project, row, what: 'running', names: runningActions(row), run: row.run_id };
  for (const { project, row } of waiting.value)
    yield { project, row, what: 'waiting', names: waitingActions[row.kind] };
  for (const { project, row } of finished.value) yield { project, row, what: 'finished', names: [] };
}

function addIssue(issues: Matches, { project, row, what }: Offer): void {
  const { issue_identifier: identifier, issue_id: issue } = row;
  if (identifier === null) return;
  issues.addOf({ project, row, more: what }, () => ({
    id: `issue/${project}/${issue}`,
    group: 'Issues',
    label: `${identifier}  ${row.title ?? ''}`,
    detail: inProject(project, what),
    run: () => go(issueHref(project, identifier)),
  }));
}

/** An action that needs input opens at the issue: its form is there. */
const onBoard: readonly (readonly [name: string, label: string])[] = [
  ['issue_move', 'Move'],
  ['issue_edit', 'Edit'],
  ['issue_comment', 'Comment'],
];

function addActions(actions: Matches, offer: Offer, boards: ReadonlySet<string>): void {
  const { project, row, names, run } = offer;
  const { issue_id: issue, issue_identifier: identifier } = row;
  if (issue === null || identifier === null) {
    addProjectActions(actions, offer);
    return;
  }
  // There may be thousands of rows: items that are not shown are not made either.
  const add = (name: string, verb: string, how: () => Pick<PaletteItem, 'run' | 'isConfirmed'>, end = ''): void =>
    actions.addOf({ project, row, more: verb }, () => ({
      id: `action/${project}/${issue}/${name}`,
      group: 'Actions',
      label: `${verb} ${identifier}${end}`,
      detail: inProject(project, row.title ?? ''),
      ...how(),
    }));
  const opens = (name: string, verb: string, words: Readonly<Record<string, string>>): void =>
    add(name, verb, () => ({ run: () => go(issueHref(project, identifier, words)) }), '…');
  if (names.includes('question_answer')) opens('question_answer', 'Answer', {});
  for (const action of actionsNamed(names, agentsOf(project))) {
    const verb = action.label.replace('…', '');
    if (action.asks !== undefined) opens(action.name, verb, { do: action.name });
    else
      add(action.name, verb, () => ({
        isConfirmed: action.confirm !== undefined,
        run: () => void sendAndNotify(project, action.request(issue, '', run)),
      }));
  }
  if (boards.has(project)) for (const [name, label] of onBoard) opens(name, label, { do: name });
}

/** A row without an issue is about the whole project. */
function addProjectActions(actions: Matches, { project, row, names }: Offer): void {
  for (const { label, request } of projectActionsNamed(names))
    actions.addOf({ project, row, more: label }, () => ({
      id: `project/${project}/${label}`,
      group: 'Actions',
      label,
      detail: project,
      isConfirmed: true,
      run: () => void sendAndNotify(project, request(row)),
    }));
}

/** Two projects may have an issue of the same name. */
function inProject(project: string, text: string): string {
  return hasSeveralProjects.value ? `${project}: ${text}` : text;
}

const shortestSearch = 2;

/** Any typed text can be searched for everywhere. */
function searchItems(typed: string): readonly PaletteItem[] {
  if (typed.length < shortestSearch) return [];
  const run = (): void => go(linkTo('/search', { q: typed }));
  return [
    { id: 'search', group: 'Found', label: `Search everything for “${typed}”`, detail: 'issues and transcripts', run },
  ];
}

function screenItems(): readonly PaletteItem[] {
  return offeredScreens().map(({ path, label, key }) => ({
    id: `screen/${path}`,
    group: 'Screens',
    label,
    detail: `g ${key}`,
    run: () => go(linkTo(path)),
  }));
}

function projectItems(boards: ReadonlySet<string>): readonly PaletteItem[] {
  const all = [...(projects.value?.values() ?? [])];
  const items = all.flatMap(({ project, vitals }): readonly PaletteItem[] => {
    const kinds = vitals.paused === null ? (['pause', 'drain'] as const) : (['resume'] as const);
    return kinds.map((kind) => ({
      id: `project/${project}/${kind}`,
      group: 'Actions',
      label: projectWords[kind],
      detail: project,
      isConfirmed: kind === 'drain',
      run: () => void sendAndNotify(project, { kind }),
    }));
  });
  const fresh = all
    .filter(({ project }) => boards.has(project))
    .map(({ project }) => ({
      id: `new/${project}`,
      group: 'Actions' as const,
      label: hasSeveralProjects.value ? `New issue in ${project}…` : 'New issue…',
      detail: 'n on the board',
      run: () => go(newIssueHref(project)),
    }));
  const label = 'Change the theme';
  return [...items, ...fresh, { id: 'theme', group: 'Actions', label, detail: 'auto, light, dark', run: nextTheme }];
}

const projectWords = {
  pause: 'Pause',
  resume: 'Resume',
  drain: 'Drain: stop Baton after running agents finish',
} as const;

/** The board with its dialog open; where one project is chosen, that one. */
function newIssueHref(project: string): string {
  const isChosen = place.peek().query.has('project');
  return linkTo('/board', { new: project, ...(isChosen ? { project } : {}) });
}

/** The daemon's hits in issues and transcripts. */
export function foundItems(project: string, { results }: Found): readonly PaletteItem[] {
  return results.map(({ kind, issue_id, issue_identifier, title, excerpt, run_id, seq }) => ({
    // The same issue is the same item, found by any source.
    id:
      kind === 'transcript' && run_id !== null
        ? `found/${project}/${issue_id}/${run_id}/${seq ?? ''}`
        : `issue/${project}/${issue_id}`,
    group: 'Found',
    label: `${issue_identifier}  ${title ?? ''}`,
    detail: inProject(project, excerpt),
    run: () =>
      go(
        kind === 'transcript' && run_id !== null
          ? eventHref(project, run_id, seq)
          : issueHref(project, issue_identifier),
      ),
  }));
}
