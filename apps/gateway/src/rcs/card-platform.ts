import type { RbmCommand } from '@countersign/rcs/commands';
import type { Card, CardAnswers, SendOutcome } from '@countersign/rcs/rules';
import type { CommandResult } from './rbm-answer.js';
import type { RbmClient } from './rbm-client.js';

/** The platform as cards see it: what is drawn, sent and told of one. Without a client it is one that refuses. */
export class CardPlatform {
  constructor(
    private readonly client: Pick<RbmClient, 'send' | 'revoke' | 'close' | 'stop'> | null,
    private readonly answers: Pick<CardAnswers, 'suggestionsOf'>,
  ) {}

  /** Whether there is a platform at all. */
  get isSetUp(): boolean {
    return this.client !== null;
  }

  /** Never rejects. */
  async send(card: Card): Promise<SendOutcome> {
    if (this.client === null) return { kind: 'refused', because: 'not_set_up' };
    return this.client.send(card, this.answers.suggestionsOf(card));
  }

  /** Never rejects. */
  async run(errand: RbmCommand): Promise<CommandResult> {
    if (this.client === null) return 'again';
    switch (errand.kind) {
      case 'revoke':
        return this.client.revoke(errand);
      case 'close_approved':
        return this.client.close(errand, 'approve');
      case 'close_denied':
        return this.client.close(errand, 'deny');
    }
  }

  /** Resolves once nothing is on its way. */
  async stop(): Promise<void> {
    await this.client?.stop();
  }
}
