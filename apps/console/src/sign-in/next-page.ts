/** The page that `next` of the address names; the first page for anything but a path of this origin. */
export function nextPage(next: string | undefined, origin: string): string {
  if (next === undefined || !/^\/(?!\/)/.test(next) || !URL.canParse(next, origin)) return '/';
  return new URL(next, origin).origin === origin ? next : '/';
}
