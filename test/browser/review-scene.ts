import { commit, git } from '../workspace/git/scratch-repository.ts';
import { ask, BoardScene } from './scenes.ts';

/**
 * A daemon whose agents leave changes for review: a program that commits files named after its issue, louder when its
 * prompt has the word. The base is checked out nowhere, so that Baton may merge into it.
 */
export class ReviewScene extends BoardScene {
  readonly source: string = `${this.place.folder}/source`;

  constructor(agent: string = politeAgent) {
    super();
    this.place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
    commit(this.source, { 'agent.sh': agent });
    git(this.source, 'checkout', '--quiet', '--detach');
    const workflow = this.place
      .read('WORKFLOW.md')
      .replace('  backend: rehearsal\n', '  backend: command\n  command: sh agent.sh\n  after_success: review\n')
      .replace('  strategy: worktree\n', '  strategy: worktree\n  base: main\n')
      .replace('agent:\n', "review: {checks: ['echo checked; test -d src']}\nagent:\n")
      .replace(/polling: .*/, 'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}');
    this.place.replace('WORKFLOW.md', workflow);
  }

  /** The newest pull request of an issue, with its rounds. */
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
  async pull(issue: string): Promise<any> {
    return ask(this, `projects/live/pulls/${issue}`);
  }

  /** A person's commit in the base. */
  commitToBase(files: Readonly<Record<string, string>>): void {
    git(this.source, 'checkout', '--quiet', 'main');
    commit(this.source, files);
    git(this.source, 'checkout', '--quiet', '--detach');
  }

  /** The content of a file in the base. */
  merged(file: string): string {
    return git(this.source, 'show', `main:${file}`);
  }
}

const politeAgent = `prompt=$(cat)
id=$(printf %s "$prompt" | grep -o 'BAT-[0-9]*' | head -n 1)
case "$prompt" in *louder*) word=HELLO;; *) word=hello;; esac
mkdir -p src/greet docs
printf 'export function greet(name: string): string {\\n  // %s\\n  return "%s, " + name;\\n}\\n' "$id" "$word" > "src/greet/$id.ts"
echo "# $id" > "docs/$id.md"
git add -A
git commit -qm "Greet with $word"
echo "I greet with **$word** now."
`;
