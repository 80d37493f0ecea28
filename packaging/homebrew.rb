class Riskbreaker < Formula
  desc "Rules host for tabletop games: every rule is a script"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@RELEASES@/v@VERSION@/riskbreaker-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@MAC_ARM@"
    end
    on_intel do
      url "@RELEASES@/v@VERSION@/riskbreaker-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@MAC_X86@"
    end
  end

  on_linux do
    on_arm do
      url "@RELEASES@/v@VERSION@/riskbreaker-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@LINUX_ARM@"
    end
    on_intel do
      url "@RELEASES@/v@VERSION@/riskbreaker-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@LINUX_X86@"
    end
  end

  def install
    bin.install "riskbreaker"
    man1.install "man/riskbreaker.1"
    bash_completion.install "completions/riskbreaker.bash" => "riskbreaker"
    zsh_completion.install "completions/_riskbreaker"
    fish_completion.install "completions/riskbreaker.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/riskbreaker --version")
    assert_match "Round 1", pipe_output("#{bin}/riskbreaker play --seed 1", "ok\n")
  end
end
