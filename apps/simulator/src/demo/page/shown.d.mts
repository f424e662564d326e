import type { LoginView } from '../login.js';
import type { SignIn } from '../sign-ins.js';

type Step = 'secret' | 'asked' | 'answer' | 'entered';
export type Screen =
  'start' | 'reaching' | 'card' | 'text' | 'code' | 'entering' | 'home' | 'denied' | 'expired' | 'cancelled';

export declare function screenOf(login: Pick<LoginView, 'phase' | 'channel' | 'code'>, codeOpen: boolean): Screen;
export declare function storyOf(screen: string): [Step, 'done' | 'now' | 'ahead'][];
export declare function timeLeft(ms: number): string;
export declare function readablePhone(phone: string): string;
export declare function proofOf(signIn: Pick<SignIn, 'proof' | 'latencyMs'>): string;
export declare function attemptsText(code: Pick<LoginView['code'], 'attemptsLeft'>): string;
export declare function resendText(
  code: Pick<LoginView['code'], 'sendsLeft'>,
  waitMs: number,
): { text: string; ready: boolean };
