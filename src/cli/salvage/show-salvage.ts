import { governingText } from '../../core/run/governing-files.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import { restoreCommand } from '../../daemon/services/salvage-report.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { counted } from '../../workspace/salvage/plural.ts';
import type { SavedWork } from '../../workspace/salvage/salvage.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { openSalvage, type ReachFlags, reachOf } from './open-salvage.ts';

/** `baton salvage list`: the newest first. */
export async function listSalvage(flags: ReachFlags, surroundings: Surroundings): Promise<number> {
  const { salvage } = openSalvage(flags, surroundings);
  const works = await salvage.list(reachOf(flags));
  const text = works.length === 0 ? 'Nothing is saved.\n' : works.map((work) => `${shownLine(work, flags)}\n`).join('');
  surroundings.stdout.write(flags.json ? jsonLine({ saved: works.map(presentSaved) }) : text);
  return exitCodes.ok;
}

/** `baton salvage show`: everything that is known of one saved work, and how to restore it. */
export async function showSalvage(wanted: string, flags: ReachFlags, surroundings: Surroundings): Promise<number> {
  const { salvage, settings, workflowPath } = openSalvage(flags, surroundings);
  const work = await salvage.find(wanted, reachOf(flags));
  const { stateDir } = flags;
  const allProjects = work.project !== null && work.project !== settings.project.name;
  const place = { workflowPath, allProjects, ...(stateDir === undefined ? {} : { stateDir }) };
  const saved = { ...presentSaved(work), restore: restoreCommand(work.name, place) };
  const text = Object.entries(saved).map(
    ([key, value]) => `${key.padEnd(18)} ${value === null || value === '' ? '-' : harmlessLine(String(value))}\n`,
  );
  surroundings.stdout.write(flags.json ? jsonLine({ saved }) : `${text.join('')}${stagedText(work)}`);
  return exitCodes.ok;
}

/** Only this line shows it: the diff is that of the files. */
function stagedText({ stagedOtherwise }: SavedWork): string {
  if (stagedOtherwise === null || stagedOtherwise === 0) return '';
  const files = stagedOtherwise === 1 ? '1 file was' : `${stagedOtherwise} files were`;
  return `\n${files} staged with other content than the content saved here; a restore stages it again.\n`;
}

/** `baton salvage diff`: its changes against the commit it was made on; for an archive, its content. */
export async function diffSalvage(
  wanted: string,
  flags: ReachFlags & { readonly stat?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const { salvage } = openSalvage(flags, surroundings);
  const work = await salvage.find(wanted, reachOf(flags));
  const diff = await salvage.diff(work, { stat: flags.stat === true });
  const mark = governingText(work.governing);
  // A terminal gets text that cannot control it; a file or a program gets the output of git, so that it can be applied.
  const text = surroundings.stdout.isTTY === true ? harmlessLines(diff) : diff;
  surroundings.stdout.write(flags.json ? jsonLine({ saved: presentSaved(work), diff }) : text);
  if (flags.json !== true && mark !== null) surroundings.stderr.write(`baton: ${mark}\n`);
  return exitCodes.ok;
}

/** Saved work for other programs. */
export function presentSaved(work: SavedWork): Record<string, string | number | readonly string[] | null> {
  return {
    name: work.name,
    kind: work.kind,
    project: work.project,
    issue_id: work.issueId,
    issue_identifier: work.issueIdentifier,
    issue_title: work.issueTitle,
    run_id: work.runId,
    workspace_path: work.workspace,
    within: work.within,
    saved_at: new Date(work.savedAt).toISOString(),
    repository: work.repository,
    reference: work.reference,
    commit: work.commit,
    branch: work.branch,
    head: work.head,
    files: work.files,
    commits: work.commits,
    staged_files: work.stagedFiles,
    staged_otherwise: work.stagedOtherwise,
    governing: work.governing === undefined ? [] : work.governing,
  };
}

/** With its project when there may be several. */
function shownLine(work: SavedWork, { allProjects }: ReachFlags): string {
  return allProjects === true ? `${harmlessLine(work.project ?? '-')}  ${line(work)}` : line(work);
}

export function line(work: SavedWork): string {
  const { name, issueIdentifier, savedAt, files, commits, kind, issueTitle } = work;
  const at = new Date(savedAt).toISOString().slice(0, 16).replace('T', ' ');
  const inCommits = `${counted(files, 'file')}, ${counted(commits, 'commit')}`;
  const what = kind === 'archive' ? `archive of ${counted(files, 'entry', 'entries')}` : inCommits;
  const mark = governingText(work.governing);
  const shown = `${harmlessLine(name)}  ${at}  ${harmlessLine(issueIdentifier)}  ${what}  ${harmlessLine(issueTitle).slice(0, 80)}`;
  return mark === null ? shown : `${shown}\n  ${mark}`;
}
