import type { ProviderKey, TrackerProfile } from '../../core/tracker-profile.ts';
import { type FrontMatter, isMap } from '../parse-front-matter.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';
import { nearestKey } from './nearest-key.ts';
import { type SettingRow, sectionsOf } from './setting-table.ts';

/**
 * Reports each unknown key with the nearest known one. Unknown keys have no effect, as the specification requires
 * (5.3), but a misspelt limit must not pass silently.
 */
export function reportUnknownKeys(
  frontMatter: FrontMatter,
  rows: readonly SettingRow[],
  trackers: readonly TrackerProfile[],
  report: Report,
): void {
  const ofProvider = trackers.flatMap(({ keys }) => keys.flatMap(spellings));
  const known = new Set([...rows.map(({ key }) => key), ...ofProvider]);
  const sections = new Set([...sectionsOf(known), 'tracker.provider']);
  for (const key of writtenKeys(frontMatter, sections)) {
    if (known.has(key) || sections.has(key)) continue;
    const nearest = nearestKey(key, [...known, ...sections]);
    const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
    // A misspelt budget would limit nothing, so it is an error.
    const problem = key.startsWith('polling.budget.') ? errorAt : warningAt;
    report(problem(key, `${key} is not a setting that Baton knows${hint}`, { code: 'unknown_setting', nearest }));
  }
}

function spellings({ name, flat }: ProviderKey): string[] {
  return flat === true ? [`tracker.provider.${name}`, `tracker.${name}`] : [`tracker.provider.${name}`];
}

/** The keys of the file; a known section is listed key by key. */
function writtenKeys(values: FrontMatter, sections: ReadonlySet<string>, above = ''): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const key = `${above}${name}`;
    return sections.has(key) && isMap(value) ? writtenKeys(value, sections, `${key}.`) : [key];
  });
}
