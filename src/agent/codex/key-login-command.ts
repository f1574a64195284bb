import { codexLoginCommand } from './resume-command.ts';

/** The line that logs the account in with an API key. The key comes from a variable: it is in no history and no list. */
export function codexKeyLoginCommand(home: string | null): string {
  return `printenv OPENAI_API_KEY | ${codexLoginCommand(home)} --with-api-key`;
}
