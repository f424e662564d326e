import type { Card, Suggestion, Verdict } from '@countersign/rcs/rules';
import { idTimeMs } from '@countersign/ids';

/** What the card is drawn from. When it was asked for, its id tells. */
export type CardFace = Pick<Card, 'id' | 'brandName' | 'logoUrl' | 'numberMatching' | 'expiresAt'>;

/** An AgentMessage of RCS Business Messaging, as far as it is used here. */
export type AgentMessage = Readonly<Record<string, unknown>>;

// Limits of the platform, in characters (guide, Send messages).
const MAX_TITLE = 200;
const MAX_SUGGESTIONS = 4;
const MAX_SUGGESTION_TEXT = 25;
const MAX_POSTBACK = 2_048;
const MAX_URL = 2_048;

/** Without it a phone that was off would tell of the decision days later; under 10 s the platform's own events race. */
const CLOSING_TTL = '120s';

/** One-time passwords and sign-ins; a platform that is told nothing takes the agent's use case. */
const TRAFFIC = 'AUTHENTICATION';

/**
 * The card that asks: title and two short lines, since phones that show more lines hide the buttons; the logo or no
 * picture; the buttons. It ends with its session. Throws where a button breaks a limit of the platform: they are ours.
 */
export function approvalMessage(card: CardFace, suggestions: readonly Suggestion[]): AgentMessage {
  const media = mediaOf(card.logoUrl);
  const cardContent = {
    title: clipped(`Sign in to ${card.brandName}?`, MAX_TITLE),
    description: linesOf(card).join('\n'),
    ...(media === null ? {} : { media }),
    suggestions: repliesOf(suggestions),
  };
  return {
    contentMessage: { richCard: { standaloneCard: { cardOrientation: 'VERTICAL', cardContent } } },
    messageTrafficType: TRAFFIC,
    expireTime: card.expiresAt.toISOString(),
  };
}

/** What is said after a tap, because the card with its buttons stays on the screen. */
export function closingMessage(card: Pick<Card, 'brandName'>, verdict: Verdict): AgentMessage {
  const text =
    verdict === 'approve'
      ? `You approved this sign-in to ${card.brandName}.`
      : `You denied this sign-in to ${card.brandName}. Nobody was let in.`;
  return { contentMessage: { text }, messageTrafficType: TRAFFIC, ttl: CLOSING_TTL };
}

/** Who did not ask sees when somebody did: against prompts that are sent until one is approved. */
function linesOf({ id, numberMatching }: CardFace): readonly [string, string] {
  // A phone's time zone is nobody's business.
  const asked = `Requested at ${new Date(idTimeMs(id)).toISOString().slice(11, 16)} UTC.`;
  return numberMatching
    ? [`${asked} Tap the number on your screen.`, 'If this was not you, tap Deny.']
    : [asked, 'If this was not you, tap Deny.'];
}

/** The platform fetches and keeps it: the brand's, never the person's. */
function mediaOf(logoUrl: string | null): object | null {
  if (logoUrl === null || logoUrl.length > MAX_URL || !logoUrl.startsWith('https://')) return null;
  return { height: 'SHORT', contentInfo: { fileUrl: logoUrl, forceRefresh: false } };
}

function repliesOf(suggestions: readonly Suggestion[]): readonly object[] {
  if (suggestions.length === 0 || suggestions.length > MAX_SUGGESTIONS) {
    throw new RangeError(`a card has 1 to ${MAX_SUGGESTIONS} buttons, not ${suggestions.length}`);
  }
  return suggestions.map(({ text, postback }) => {
    if (text === '' || text.length > MAX_SUGGESTION_TEXT) throw new RangeError('a button has 1 to 25 characters');
    if (postback === '' || postback.length > MAX_POSTBACK) throw new RangeError('a postback has 1 to 2048 characters');
    return { reply: { text, postbackData: postback } };
  });
}

/** Cut between characters, never within one. */
function clipped(text: string, max: number): string {
  if (text.length <= max) return text;
  let kept = '';
  for (const character of text) {
    if (kept.length + character.length > max - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
