import type { ProviderKey, TrackerProfile } from '../../core/tracker-profile.ts';
import { type FrontMatter, isMap } from '../parse-front-matter.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';
import { nearestKey } from './nearest-key.ts';
import { sectionsOf, settingRows } from './setting-table.ts';

/**
 * Reports each key nobody reads, with the nearest one that somebody does. They stay harmless, as the specification
 * wants it (5.3), but a misspelt limit must not pass in silence.
 */
export function reportUnknownKeys(
  frontMatter: FrontMatter,
  profile: TrackerProfile | null,
  profiles: readonly TrackerProfile[],
  report: Report,
): void {
  const known = knownKeys(profile === null ? profiles : [profile]);
  const sections = new Set([...sectionsOf(known), 'tracker.provider']);
  for (const key of writtenKeys(frontMatter, sections)) {
    if (known.has(key) || sections.has(key)) continue;
    const nearest = nearestKey(key, [...known, ...sections]);
    const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
    // A bound on the bill that nobody reads is none: that is an error.
    const problem = key.startsWith('polling.budget.') ? errorAt : warningAt;
    report(problem(key, `${key} is not a setting Baton knows${hint}`, { code: 'unknown_setting', nearest }));
  }
}

function knownKeys(profiles: readonly TrackerProfile[]): Set<string> {
  const ofProvider = profiles.flatMap((profile) => profile.keys.flatMap(spellings));
  return new Set([...settingRows.map(([key]) => key), ...ofProvider]);
}

function spellings({ name, flat }: ProviderKey): string[] {
  return flat === true ? [`tracker.provider.${name}`, `tracker.${name}`] : [`tracker.provider.${name}`];
}

/** Sections that are known are looked into. */
function writtenKeys(values: FrontMatter, sections: ReadonlySet<string>, above = ''): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const key = `${above}${name}`;
    return sections.has(key) && isMap(value) ? writtenKeys(value, sections, `${key}.`) : [key];
  });
}
