import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pinnedCodexVersion } from '../../src/agent/codex/pinned-version.ts';
import { workflowSchema } from '../../src/workflow/table/workflow-schema.ts';
import { givenContext, givenText } from '../workflow/given.ts';

const page = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('docs/agents/codex.md', () => {
  const text = page('docs/agents/codex.md');
  const examples = [...text.matchAll(/```markdown\n([\s\S]*?)```/g)].map(([, example]) => example ?? '');

  it('has an example that loads without a warning', () => {
    expect(examples).toHaveLength(1);
    const { warnings, settings } = givenText(examples[0] ?? '', {});
    expect(warnings).toEqual([]);
    expect(settings.agent.accounts.map(({ name }) => name)).toEqual(['work', 'spare']);
  });

  // @conforms codex.23
  it('states the default of every value in it that is not the default', () => {
    const [front = ''] = /^---$.*?^---$/ms.exec(examples[0] ?? '') ?? [];
    const byDefault = givenText('---\ntracker: {kind: board}\n---\nWork.\n', {}).described;
    const inExample = givenText(examples[0] ?? '', {}).described;
    const differing = inExample.filter(({ key, value }) => {
      const usual = byDefault.find((each) => each.key === key)?.value;
      return /^(workspace|agent|codex)\./.test(key) && JSON.stringify(value) !== JSON.stringify(usual);
    });
    // What follows from a key that is there is not there itself.
    const shown = differing.map(({ key }) => key.split('.').at(-1)).filter((name) => front.includes(` ${name}:`));
    expect(shown).toContain('approval_policy');
    for (const name of shown) expect(front).toMatch(new RegExp(`^ +${name}:.* # default: `, 'm'));
    expect(front.match(/# default: /g)).toHaveLength(shown.length);
  });

  it('names every key of codex', () => {
    // As an editor gets it: plain JSON.
    const { codex } = JSON.parse(JSON.stringify(workflowSchema(givenContext()))).properties;
    expect(Object.keys(codex.properties)).toContain('command');
    for (const key of Object.keys(codex.properties)) expect(text).toContain(`\`codex.${key}\``);
  });

  it.each(['docs/agents/codex.md', 'README.md'])('installs the tested version, as %s does', (name) => {
    expect(page(name).match(/@openai\/codex@[\w.-]+/g)).toEqual([`@openai/codex@${pinnedCodexVersion}`]);
  });
});
