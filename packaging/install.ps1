# Installs riskbreaker for one user: powershell -File install.ps1 [-Version VERSION]
#
# It downloads the archive for this system and its checksum, compares them, and writes to $env:LOCALAPPDATA\riskbreaker.
# RISKBREAKER_RELEASES is the address of the releases. Untested: nobody has run it on Windows yet.
param([string]$Version = "@VERSION@")

$ErrorActionPreference = "Stop"
Set-StrictMode -Version Latest
$releases = if ($env:RISKBREAKER_RELEASES) { $env:RISKBREAKER_RELEASES } else { "@RELEASES@" }
if ("$releases$Version" -match "@") { throw "this copy belongs to no release: set RISKBREAKER_RELEASES and give a version" }
$machine = if ($env:PROCESSOR_ARCHITECTURE -eq "ARM64") { "aarch64" } else { "x86_64" }
$name = "riskbreaker-$Version-$machine-pc-windows-msvc"
$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory $work | Out-Null
try {
    [Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
    Invoke-WebRequest -UseBasicParsing "$releases/v$Version/$name.zip" -OutFile "$work\$name.zip"
    Invoke-WebRequest -UseBasicParsing "$releases/v$Version/sha256sums.txt" -OutFile "$work\sha256sums.txt"
    $line = Get-Content "$work\sha256sums.txt" | Where-Object { $_.EndsWith("  $name.zip") }
    if (-not $line) { throw "the checksums do not name $name.zip" }
    $found = (Get-FileHash -Algorithm SHA256 "$work\$name.zip").Hash
    if ($found -ne $line.Substring(0, 64)) { throw "the checksum of $name.zip differs: nothing was installed" }
    Expand-Archive "$work\$name.zip" -DestinationPath $work
    $home_ = Join-Path $env:LOCALAPPDATA "riskbreaker"
    New-Item -ItemType Directory -Force $home_ | Out-Null
    Copy-Item -Recurse -Force "$work\$name\*" $home_
    & "$home_\riskbreaker.exe" --version
    $path = [Environment]::GetEnvironmentVariable("Path", "User")
    if (($path -split ";") -notcontains $home_) {
        [Environment]::SetEnvironmentVariable("Path", "$path;$home_", "User")
        Write-Host "Open a new terminal to use riskbreaker."
    }
} finally {
    Remove-Item -Recurse -Force $work
}
