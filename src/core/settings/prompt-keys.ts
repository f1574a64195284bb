import { setting } from './setting.ts';

/** The section `second_prompt`: another prompt for a share of the issues, to compare the two; see [prompts](prompts.md). */
export const secondPromptKeys = {
  file: setting('non_blank_text', null, 'next run', 'guarded', {
    description:
      'A file with a second prompt for workers, as a template: a path below the folder of the workflow file. See [prompts](prompts.md).',
    defaultText: 'none: every issue gets the text below the front matter',
  }),
  share: setting('percentage', 50, 'next run', 'open', {
    description:
      'How many percent of the issues get the second prompt. The id of an issue decides, so all its runs get the same prompt.',
  }),
};
