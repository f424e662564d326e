/** Notifies the webhook dispatcher of this process that deliveries may have become due. */
export class DeliveryJobNotifier {
  private listener: () => void = () => undefined;

  connect(listener: () => void): void {
    this.listener = listener;
  }

  notify(): void {
    this.listener();
  }
}
