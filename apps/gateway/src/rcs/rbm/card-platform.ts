import type { RbmCommand } from '@countersign/rcs/commands';
import type { Card, CardAnswers, SendOutcome } from '@countersign/rcs/rules';
import type { DatabaseClock } from '@countersign/postgres';
import type { GatewaySettings } from '@countersign/settings';
import type { CommandResult } from './rbm-answer.js';
import { RbmClient } from './rbm-client.js';
import type { RbmProblemLog } from './rbm-problem.log.js';

/** Sends cards and runs their commands on the platform. Without a client every card is refused. */
export class CardPlatform {
  constructor(
    private readonly client: Pick<RbmClient, 'sendCard' | 'revoke' | 'sendClosingText' | 'stop'> | null,
    private readonly answers: Pick<CardAnswers, 'suggestionsOf'>,
  ) {}

  /** The platform of the settings. Throws a SettingsError when its key file is not usable. */
  static open(
    { rbm }: Pick<GatewaySettings, 'rbm'>,
    clock: DatabaseClock,
    answers: CardAnswers,
    problems: RbmProblemLog,
  ): CardPlatform {
    const client = RbmClient.open(rbm, {
      nowMs: () => clock.nowMs(),
      onProblem: (problem) => problems.reportProblem(problem),
    });
    if (client === null) problems.reportUnconfigured();
    return new CardPlatform(client, answers);
  }

  /** Whether a platform is configured. */
  get isConfigured(): boolean {
    return this.client !== null;
  }

  /** Never rejects. */
  async sendCard(card: Card): Promise<SendOutcome> {
    if (this.client === null) return { kind: 'refused', because: 'not_set_up' };
    return this.client.sendCard(card, this.answers.suggestionsOf(card));
  }

  /** Never rejects. */
  async runCommand(command: RbmCommand): Promise<CommandResult> {
    if (this.client === null) return 'again';
    switch (command.kind) {
      case 'revoke':
        return this.client.revoke(command);
      case 'close_approved':
        return this.client.sendClosingText(command, 'approve');
      case 'close_denied':
        return this.client.sendClosingText(command, 'deny');
    }
  }

  /** Resolves once no request is in flight. */
  async stop(): Promise<void> {
    await this.client?.stop();
  }
}
