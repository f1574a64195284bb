import { harmlessLine, harmlessLines } from '../text/harmless-line.ts';
import type { Finding, Verdict } from './judge.ts';

/** Less than any host takes. */
const longestText = 60_000;

/** A verdict for people, in Markdown. The words of an agent mention no one. */
export function verdictText({ verdict, agent, summary, findings, commit }: Verdict): string {
  const lines = [
    `**Baton's judge ${verdict === 'approved' ? 'approves' : 'rejects'} ${commit.slice(0, 12)}** (agent \`${words(agent)}\`)`,
    '',
    words(summary),
    ...(findings.length === 0 ? [] : ['', ...findings.map(findingLine)]),
  ];
  const text = lines.join('\n');
  return text.length <= longestText ? text : `${text.slice(0, longestText).toWellFormed()}\n\n[cut]`;
}

function findingLine({ file, line, severity, problem, wanted }: Finding): string {
  const name = file === null ? '' : `\`${harmlessLine(file).replaceAll('`', "'")}${line === null ? '' : `:${line}`}\` `;
  return `- ${name}(${severity}) ${indented(problem)}\n  Wanted: ${indented(wanted)}`;
}

function indented(text: string): string {
  return words(text).replaceAll('\n', '\n  ');
}

/** An `@` without a name behind it notifies no one; and a comment of HTML would hide words, or imitate Baton's mark. */
function words(text: string): string {
  return harmlessLines(text).trim().replaceAll('@', '@\u200B').replaceAll('<!--', '&lt;!--');
}
