/** Panels: beside the view in wide windows, over all of it in narrow ones. At most one is open. */

const BESIDE = "(min-width: 56rem)";

let opened = null;

export class Panel {
  #dialog;
  #title;
  #onClose;
  #opener = null;

  /**
   * @param {HTMLDialogElement} dialog with a heading that can have the focus, and a button of class close
   * @param {() => void} onClose
   */
  constructor(dialog, onClose) {
    this.#dialog = dialog;
    this.#title = dialog.querySelector("h2");
    this.#onClose = onClose;
    dialog.querySelector(".close").addEventListener("click", () => this.close());
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.close();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.isOpen && !document.querySelector("dialog:modal")) this.close();
    });
  }

  get isOpen() {
    return opened === this;
  }

  /** Whether the panel covers the view. */
  get covers() {
    return this.#dialog.matches(":modal");
  }

  /** Open the panel in place of another one, and move the focus to an element in it, by default to its title. */
  open(focused = this.#title) {
    if (!this.isOpen) {
      opened?.close();
      this.#opener = document.activeElement;
      opened = this;
      if (matchMedia(BESIDE).matches) this.#dialog.show();
      else this.#dialog.showModal();
    }
    this.#dialog.scrollTop = 0;
    focused.focus();
  }

  /** Close the panel, and move the focus back to where it was. */
  close() {
    if (!this.isOpen) return;
    opened = null;
    this.#dialog.close();
    if (this.#opener?.isConnected) this.#opener.focus({ preventScroll: true });
    this.#opener = null;
    this.#onClose();
  }
}
